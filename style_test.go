package evenkeel_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The house's sizes, in lines. A function is counted from its signature to its closing brace.
const (
	longestFile      = 400
	longestFunction  = 60
	medianFunction   = 10
	worstThatAreTold = 10
)

// source is a Go file of the repository, in whichever module.
type source struct {
	path  string // from the repository's root
	lines int
	fset  *token.FileSet
	tree  *ast.File
}

// size is how many lines something named has.
type size struct {
	name  string
	lines int
}

func TestFilesAreShort(t *testing.T) {
	var files []size
	for _, s := range sources(t) {
		files = append(files, size{s.path, s.lines})
	}
	wantAtMost(t, files, longestFile)
}

func TestFunctionsFitOnAScreen(t *testing.T) {
	var functions []size
	for _, s := range sources(t) {
		functions = append(functions, s.functions()...)
	}
	wantAtMost(t, functions, longestFunction)
}

func TestMedianFunctionIsShort(t *testing.T) {
	var functions []size
	for _, s := range sources(t) {
		if !s.isTest() {
			functions = append(functions, s.functions()...)
		}
	}
	slices.SortFunc(functions, longestFirst)
	if median := functions[len(functions)/2]; median.lines >= medianFunction {
		t.Errorf("the median function has %d lines, want less than %d", median.lines, medianFunction)
	}
}

// wantAtMost reports the worst of those that are over the limit.
func wantAtMost(t *testing.T, sizes []size, limit int) {
	t.Helper()
	if len(sizes) == 0 {
		t.Fatal("found nothing to measure: this test looks in the wrong place")
	}
	slices.SortFunc(sizes, longestFirst)
	for _, s := range sizes[:min(len(sizes), worstThatAreTold)] {
		if s.lines > limit {
			t.Errorf("%s has %d lines, want at most %d", s.name, s.lines, limit)
		}
	}
}

func longestFirst(a, b size) int { return b.lines - a.lines }

// functions measures each function that has a name; a literal counts as part of the one around it.
func (s source) functions() []size {
	var sizes []size
	for _, d := range s.tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			from, to := s.fset.Position(f.Pos()), s.fset.Position(f.End())
			sizes = append(sizes, size{fmt.Sprintf("%s:%d: %s", s.path, from.Line, f.Name.Name), to.Line - from.Line + 1})
		}
	}
	return sizes
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// folder is the folder of the file, from the repository's root.
func (s source) folder() string { return filepath.ToSlash(filepath.Dir(s.path)) }

// sources reads all Go files of the repository but generated ones.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return orSkip(path, d, err)
		}
		if filepath.Ext(path) == ".go" {
			all = append(all, read(t, path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(s source) bool { return ast.IsGenerated(s.tree) })
}

// orSkip keeps the walk out of what is not ours: hidden folders, what was built, test data.
func orSkip(path string, d fs.DirEntry, err error) error {
	hidden := strings.HasPrefix(d.Name(), ".") && path != "."
	if err == nil && (hidden || d.Name() == "bin" || d.Name() == "testdata") {
		return filepath.SkipDir
	}
	return err
}

func read(t *testing.T, path string) source {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{path: filepath.ToSlash(path), lines: bytes.Count(text, []byte("\n")), fset: fset, tree: tree}
}
