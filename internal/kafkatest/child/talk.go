package child

import (
	"io"
	"os"
	"os/exec"
)

// Talk starts cmd with pipes to its standard input and from its standard output. What the child has written can be read to its end after
// the child has ended, however it did.
func Talk(cmd *exec.Cmd) (p *Process, in io.Writer, out io.ReadCloser, err error) {
	in, err = cmd.StdinPipe() // closed when the child has ended
	if err != nil {
		return nil, nil, nil, err
	}
	// StdoutPipe would be closed when the child has ended, with what nobody has read yet.
	out, w, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	cmd.Stdout = w
	p, err = Start(cmd, "")
	w.Close() // the child has its own
	if err != nil {
		out.Close()
		return nil, nil, nil, err
	}
	return p, in, out, nil
}
