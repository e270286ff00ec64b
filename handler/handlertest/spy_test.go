package handlertest_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"
)

// spy is a testing.TB that keeps what a run says of a failure.
type spy struct {
	testing.TB
	said     bytes.Buffer
	log      bytes.Buffer
	cleanups []func()
}

func (s *spy) Helper()                   {}
func (s *spy) Cleanup(f func())          { s.cleanups = append(s.cleanups, f) }
func (s *spy) Output() io.Writer         { return &s.log }
func (s *spy) Errorf(f string, a ...any) { fmt.Fprintf(&s.said, f+"\n", a...) }

func (s *spy) Fatalf(f string, a ...any) {
	s.Errorf(f, a...)
	runtime.Goexit()
}

// failing runs f as a test and returns what it said.
func failing(f func(*spy)) string { return (&spy{}).failing(f) }

func (s *spy) failing(f func(*spy)) string {
	done := make(chan struct{})
	// Ends when f has, or has failed.
	go func() {
		defer close(done)
		defer func() {
			for _, c := range slices.Backward(s.cleanups) {
				c()
			}
		}()
		f(s)
	}()
	<-done
	return s.said.String()
}
