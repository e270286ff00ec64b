// Package evenkeel_test holds the repository to its rules: what the library brings into a user's build, which way
// imports point, and how long code may be.
package evenkeel_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	ourModule = "github.com/evenkeel-go/evenkeel"
	sarama    = "github.com/IBM/sarama"
	pkgErrors = "github.com/pkg/errors"
)

// pkg is what go list tells of a package.
type pkg struct {
	ImportPath, Dir        string
	GoFiles, Imports, Deps []string
	Standard               bool
	Module                 struct{ Path string }
}

// requirement is a line of a go.mod file.
type requirement struct {
	Path     string
	Indirect bool
}

func TestUsersBuildIsSaramaAndPkgErrors(t *testing.T) {
	allowed := append(modulesOf(list(t, "-deps", sarama)), pkgErrors, ourModule)
	built := modulesOf(list(t, append([]string{"-deps"}, publicPackages(t)...)...))
	if !slices.Contains(built, sarama) {
		t.Fatalf("the library seems to be built from %v, without sarama: this test looks at the wrong packages", built)
	}
	for _, module := range built {
		if !slices.Contains(allowed, module) {
			t.Errorf("a user's build gets module %s: only sarama's own tree and %s may be in it", module, pkgErrors)
		}
	}
}

func TestRequirementsAreSaramaAndPkgErrors(t *testing.T) {
	var direct []string
	known := []string{sarama, pkgErrors}
	for _, r := range requirements(t, saramasGoMod(t)) {
		known = append(known, r.Path)
	}
	for _, r := range requirements(t, "go.mod") {
		if !r.Indirect {
			direct = append(direct, r.Path)
		}
		if !slices.Contains(known, r.Path) {
			t.Errorf("go.mod requires %s, which sarama does not: give what needs it a module of its own", r.Path)
		}
	}
	if want := []string{sarama, pkgErrors}; !slices.Equal(slices.Sorted(slices.Values(direct)), want) {
		t.Errorf("go.mod requires %v directly, want %v", direct, want)
	}
}

// publicPackages are the packages of this module that others can import.
func publicPackages(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, p := range list(t, "./...") {
		if len(p.GoFiles) > 0 && !within(p.path(), "internal") {
			paths = append(paths, p.ImportPath)
		}
	}
	return paths
}

// path is the package's place in the module, as "internal/offset".
func (p pkg) path() string { return strings.TrimPrefix(p.ImportPath, ourModule+"/") }

// within says whether a path is one of the trees or lies below one.
func within(path string, trees ...string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool {
		return path == tree || strings.HasPrefix(path, tree+"/")
	})
}

func modulesOf(pkgs []pkg) []string {
	var modules []string
	for _, p := range pkgs {
		if !p.Standard {
			modules = append(modules, p.Module.Path)
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules)
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	out := json.NewDecoder(bytes.NewReader(goCommand(t, append([]string{"list", "-json"}, args...)...)))
	var pkgs []pkg
	for out.More() {
		var p pkg
		if err := out.Decode(&p); err != nil {
			t.Fatalf("go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
	return pkgs
}

func saramasGoMod(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(string(goCommand(t, "list", "-m", "-f", "{{.GoMod}}", sarama)))
}

func requirements(t *testing.T, goMod string) []requirement {
	t.Helper()
	var mod struct{ Require []requirement }
	if err := json.Unmarshal(goCommand(t, "mod", "edit", "-json", goMod), &mod); err != nil {
		t.Fatalf("%s: %v", goMod, err)
	}
	return mod.Require
}

// goCommand runs the go command in the repository's root and returns what it prints.
func goCommand(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return out
}
