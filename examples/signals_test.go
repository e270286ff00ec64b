package examples_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

// A stop takes its time when the broker does not answer the member's farewell. Who signals again does not want to wait.
func TestASecondSignalEndsTheProgram(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]func(broker string) []string{
		"hello": func(broker string) []string { return []string{broker} },
		"service": func(broker string) []string {
			return []string{"-brokers", broker, "-group", "reports", "-topic", "report-requests", "-listen", "127.0.0.1:0"}
		},
		"plainsarama": func(broker string) []string { return []string{"-brokers", broker} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := kafkatest.Fake(t)
			must(t, b.CreateTopic("report-requests", 1))
			must(t, b.Produce("report-requests", 0, "a"))
			b.Cluster.ControlKey(int16(kmsg.LeaveGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
				b.Cluster.KeepControl()
				return nil, nil, true // no answer
			})
			p := start(t, name, nil, args(b.Addrs()[0])...)
			p.await(t, map[bool]string{true: "skipped", false: "report for a is ready"}[name == "service"])
			p.endBySignals(t)
		})
	}
}

// endBySignals sends signal after signal until the program has ended, and wants one of them to have done it.
func (p *program) endBySignals(t *testing.T) {
	t.Helper()
	ended, done := make(chan struct{}), make(chan struct{})
	go func() { // ends with ended
		defer close(done)
		for {
			_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by now
			select {
			case <-ended:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	code := p.end(t)
	close(ended)
	<-done
	if state, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !state.Signaled() {
		t.Errorf("%s ended with %d, want it ended by the second signal:\n%s", p.cmd.Path, code, p.transcript())
	}
}
