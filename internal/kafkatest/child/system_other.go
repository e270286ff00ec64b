//go:build !unix

package child

import (
	"errors"
	"os"
	"os/exec"
)

var errSystem = errors.New("processes are watched and frozen on Unix systems only")

func inGroup(*exec.Cmd, int)      {}
func freeze(*os.Process) error    { return errSystem }
func thaw(*os.Process) error      { return errSystem }
func terminate(*os.Process) error { return errSystem }
