package evenkeel_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// otherModules are the folders in which nothing is public: programs, and what tests are made of.
var otherModules = []string{"bench", "chaos", "examples", "internal", "test", "tools"}

func TestEveryPackageHasADocComment(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if !s.isTest() {
			documented[s.folder()] = documented[s.folder()] || s.tree.Doc != nil
		}
	}
	for folder, ok := range documented {
		if !ok {
			t.Errorf("%s: no file has a package comment", folder)
		}
	}
}

func TestEveryExportedNameHasADocComment(t *testing.T) {
	names := 0
	for _, s := range sources(t) {
		if s.isTest() || within(s.folder(), otherModules...) {
			continue
		}
		s.exported(func(name *ast.Ident, documented bool) {
			names++
			if !documented {
				t.Errorf("%s: %s has no doc comment", s.fset.Position(name.Pos()), name.Name)
			}
		})
	}
	if names == 0 {
		t.Error("found no exported name: this test looks in the wrong place")
	}
}

// visit is called with each exported name and whether a comment stands above it or behind it.
type visit func(name *ast.Ident, documented bool)

// see leaves out the names that are not exported.
func (v visit) see(names []*ast.Ident, comments ...*ast.CommentGroup) {
	documented := false
	for _, c := range comments {
		documented = documented || c.Text() != ""
	}
	for _, name := range names {
		if name.IsExported() {
			v(name, documented)
		}
	}
}

// exported visits what users of the package can name, fields and interface methods too.
func (s source) exported(v visit) {
	for _, d := range s.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if receiverExported(d) {
				v.see([]*ast.Ident{d.Name}, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				v.spec(d, spec)
			}
		}
	}
}

// spec visits the names of one type, constant or variable. A comment above a group of constants or variables is for all of
// them; one above a group of types is for none.
func (v visit) spec(d *ast.GenDecl, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		v.see(spec.Names, d.Doc, spec.Doc, spec.Comment)
	case *ast.TypeSpec:
		above := d.Doc
		if d.Lparen != token.NoPos {
			above = nil
		}
		v.see([]*ast.Ident{spec.Name}, above, spec.Doc)
		if spec.Name.IsExported() {
			v.members(spec.Type)
		}
	}
}

// members visits fields and interface methods. What is embedded has its comment elsewhere; the only method of an interface has
// the interface's.
func (v visit) members(t ast.Expr) {
	switch t := t.(type) {
	case *ast.StructType:
		v.fields(t.Fields.List)
	case *ast.InterfaceType:
		if len(t.Methods.List) > 1 {
			v.fields(t.Methods.List)
		}
	}
}

// fields lets a comment above a run of fields be for each that it names.
func (v visit) fields(fields []*ast.Field) {
	var above *ast.CommentGroup
	for _, f := range fields {
		if f.Doc != nil {
			above = f.Doc
		}
		for _, name := range f.Names {
			v.see([]*ast.Ident{name}, f.Doc, f.Comment, naming(name.Name, above))
		}
		v.members(f.Type)
	}
}

// naming returns the comment if it has the name as a word.
func naming(name string, c *ast.CommentGroup) *ast.CommentGroup {
	letters := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	if slices.Contains(strings.FieldsFunc(c.Text(), letters), name) {
		return c
	}
	return nil
}

func receiverExported(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	exported := false
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && !exported {
			exported = name.IsExported()
			return false
		}
		return true
	})
	return exported
}
