package evenkeel_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	// pure stages know neither sarama nor goroutines nor the clock.
	pure = []string{"internal/assign", "internal/offset", "internal/packed", "internal/schedule"}
	// forTests are packages that only tests import.
	forTests = []string{"handler/handlertest", "internal/contract", "internal/fakegroup"}
)

// layers say which of the module's trees a tree may import, itself aside. The first one that fits a package holds.
var layers = []struct {
	tree string
	may  []string
}{
	{"handler/handlertest", []string{"config", "handler", "internal"}},
	{"internal/contract", []string{"config", "consumer", "handler", "internal"}},
	{"internal/fakegroup", []string{"config", "internal"}},
	{"internal/assign", []string{"internal/packed"}},
	{"internal/offset", []string{"internal/packed"}},
	{"internal/packed", nil},
	{"internal/schedule", nil},
	{"internal", []string{"config"}},
	{"config", nil},
	{"handler", []string{"config", "internal"}},
	{"consumer", []string{"config", "handler", "internal"}},
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range library(t) {
		may, ok := allowedImports(p.path())
		if !ok {
			t.Errorf("%s is in no layer: add it to the list in this file", p.path())
		}
		for _, path := range p.Imports {
			if path, ours := strings.CutPrefix(path, ourModule+"/"); ours && !within(path, may...) {
				t.Errorf("%s imports %s, which is not below it", p.path(), path)
			}
		}
	}
}

func TestOnlyTestsImportTestPackages(t *testing.T) {
	for _, p := range library(t) {
		for _, path := range p.Imports {
			if within(strings.TrimPrefix(path, ourModule+"/"), forTests...) && !within(p.path(), forTests...) {
				t.Errorf("%s imports %s, which is for tests", p.path(), path)
			}
		}
	}
}

func TestPureStagesKnowNoSaramaGoroutineOrClock(t *testing.T) {
	for _, p := range library(t) {
		if !within(p.path(), pure...) {
			continue
		}
		if slices.Contains(p.Deps, sarama) {
			t.Errorf("%s depends on sarama: its caller has to convert", p.path())
		}
		for _, name := range p.GoFiles {
			checkPure(t, filepath.Join(p.Dir, name))
		}
	}
}

// A user who asks for the module alone gets its documentation, and nothing to build.
func TestTheRootPackageImportsNothing(t *testing.T) {
	root := list(t, ".")[0]
	if !slices.Equal(root.GoFiles, []string{"doc.go"}) || len(root.Imports) > 0 {
		t.Errorf("the root package has %v and imports %v, want doc.go alone and nothing", root.GoFiles, root.Imports)
	}
}

// library lists the module's packages, the root aside.
func library(t *testing.T) []pkg {
	t.Helper()
	return slices.DeleteFunc(list(t, "./..."), func(p pkg) bool { return len(p.GoFiles) == 0 || p.ImportPath == ourModule })
}

func allowedImports(path string) ([]string, bool) {
	for _, l := range layers {
		if within(path, l.tree) {
			return append([]string{l.tree}, l.may...), true
		}
	}
	return nil, false
}

// checkPure reports go statements and uses of the clock. Constants and types of package time are no clock.
func checkPure(t *testing.T, file string) {
	t.Helper()
	clock := []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: a pure stage starts a goroutine", fset.Position(n.Pos()))
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, n.Sel.Name) {
				t.Errorf("%s: a pure stage reads the clock: hand it the time", fset.Position(n.Pos()))
			}
		}
		return true
	})
}
