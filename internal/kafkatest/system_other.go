//go:build !unix

package kafkatest

import (
	"context"
	"errors"
	"os"
	"os/exec"
)

var errSystem = errors.New("a real Kafka is started on Unix systems only")

func supported() error { return errSystem }

func lock(context.Context, string) (func(), error) { return nil, errSystem }
func inGroup(*exec.Cmd, int)                       {}
func pause(*os.Process) error                      { return errSystem }
func resume(*os.Process) error                     { return errSystem }
func terminate(*os.Process) error                  { return errSystem }
