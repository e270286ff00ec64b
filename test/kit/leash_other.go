//go:build !unix

package kit

import (
	"errors"
	"os"
	"os/exec"
)

var errNoSignals = errors.New("members as processes need a Unix")

type leash struct{}

func tether(*exec.Cmd) (*leash, error) { return nil, errNoSignals }
func (*leash) pull(*os.Process)        {}
func freeze(*os.Process) error         { return errNoSignals }
func thaw(*os.Process) error           { return errNoSignals }
