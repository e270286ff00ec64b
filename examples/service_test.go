package examples_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest"
)

const short, long = `{"video": "short.mp4", "length": "100ms"}`, `{"video": "long.mp4", "length": "10m"}`

// The service is stopped in the middle of a long task: what is done is committed, and the long one is left to the next owner.
func TestService(t *testing.T) {
	t.Parallel()
	b, topic := kafkatest.Fake(t), kafkatest.Name(t)
	must(t, b.CreateTopic(topic, 2))
	must(t, b.Produce(topic, 0, short, "no JSON", short))
	must(t, b.Produce(topic, 1, short, long))
	p := start(t, "service", []string{"BROKERS=" + b.Addrs()[0], "GROUP=another"},
		"-group", topic, "-topic", topic, "-expected", "1s", "-listen", "127.0.0.1:0")
	url := serviceURL(t, p)
	awaitAll(t, p, []string{`"transcoding"`, `"long.mp4"`, `"length":"10m0s"`}, []string{`"transcoded"`, `"partition":0,"offset":2`}, []string{"skipped"})
	wantGet(t, url+"/livez", http.StatusOK)
	wantGet(t, url+"/readyz", http.StatusOK)
	wantStatus(t, url)
	p.signal(t, syscall.SIGTERM)
	p.await(t, "cut off", "the member is stopping")
	p.await(t, "stopped in order")
	p.wantEnd(t, 0)
	wantCommitted(t, b, topic, topic, 3, 1)
	wantLeft(t, b, topic)
	if p.errs.Len() > 0 {
		t.Errorf("its log is JSON on its output, and this is beside it:\n%s", &p.errs)
	}
}

func TestServicePrintsItsPlan(t *testing.T) {
	t.Parallel()
	wantPrinted(t, "Plan for tasks of 1m30s", nil, "-plan", "-expected", "90s")
	wantPrinted(t, "as StopGrace asks", []string{"STOP_GRACE=2h"}, "-plan", "-expected", "90s")
}

func TestServicePrintsItsUsage(t *testing.T) {
	t.Parallel()
	wantPrinted(t, "-topic string", []string{"SLOTS=many"}, "-h") // also to those who set nonsense
}

// wantPrinted wants the service to print and to end well.
func wantPrinted(t *testing.T, want string, extra []string, args ...string) {
	t.Helper()
	p := start(t, "service", extra, args...)
	p.wantEnd(t, 0)
	if out := strings.Join(p.seen, "\n"); !strings.Contains(out, want) || p.errs.Len() > 0 {
		t.Errorf("its output lacks %q, or there is more beside it:\n%s", want, p.transcript())
	}
}

// A member that waits for its topic is not ready, and says why.
func TestServiceWithoutItsTopicIsNotReady(t *testing.T) {
	t.Parallel()
	b, topic := kafkatest.Fake(t), kafkatest.Name(t)
	p := start(t, "service", nil, "-brokers", b.Addrs()[0], "-group", topic, "-topic", topic, "-listen", "127.0.0.1:0")
	url := serviceURL(t, p)
	p.await(t, "topic does not exist")
	p.await(t, `"rebalance"`)
	if body := wantGet(t, url+"/readyz", http.StatusServiceUnavailable); !strings.Contains(string(body), "missing topics: "+topic) {
		t.Errorf("it does not say which topic is missing: %s", body)
	}
	wantGet(t, url+"/livez", http.StatusOK)
	if body := wantGet(t, url+"/status", http.StatusOK); !strings.Contains(string(body), `"missing":["`+topic+`"]`) {
		t.Errorf("the status does not name the topic: %s", body)
	}
	p.signal(t, syscall.SIGTERM)
	p.wantEnd(t, 0)
}

// Brokers that are away are no reason to restart the program, and no reason to wait for when it stops.
func TestServiceWithoutBrokers(t *testing.T) {
	t.Parallel()
	p := start(t, "service", nil, "-brokers", "127.0.0.1:1", "-group", "g", "-topic", "t", "-listen", "127.0.0.1:0")
	url := serviceURL(t, p)
	p.await(t, "cannot connect to the group's coordinator")
	wantGet(t, url+"/livez", http.StatusOK)
	wantGet(t, url+"/readyz", http.StatusServiceUnavailable)
	p.signal(t, syscall.SIGTERM)
	p.wantEnd(t, 0)
}

func TestServiceNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"-topic":   {"-group", "g", "-brokers", "127.0.0.1:1"},
		"Brokers":  {"-group", "g", "-topic", "t"},
		"Expected": {"-group", "g", "-topic", "t", "-brokers", "127.0.0.1:1", "-expected", "0s"},
		"slots":    {"-group", "g", "-topic", "t", "-brokers", "127.0.0.1:1", "-slots", "many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "service", nil, args...)
			if p.end(t) == 0 || !strings.Contains(p.transcript(), name) {
				t.Errorf("it should fail and name %s:\n%s", name, p.transcript())
			}
		})
	}
}

// serviceURL reads the address of the health endpoints from the log.
func serviceURL(t *testing.T, p *program) string {
	t.Helper()
	var entry struct{ Addr string }
	must(t, json.Unmarshal([]byte(p.await(t, "health endpoints")), &entry))
	return "http://" + entry.Addr
}

// awaitAll waits for several lines, in whichever order they come.
func awaitAll(t *testing.T, p *program, wanted ...[]string) {
	t.Helper()
	for len(wanted) > 0 {
		line := p.await(t)
		for i, parts := range wanted {
			if containsAll(line, parts) {
				wanted = append(wanted[:i:i], wanted[i+1:]...)
				break
			}
		}
	}
}

func wantGet(t *testing.T, url string, code int) (body []byte) {
	t.Helper()
	resp, err := http.Get(url)
	must(t, err)
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode != code {
		t.Errorf("%s: %s, want %d: %s", url, resp.Status, code, body)
	}
	return body
}

func wantStatus(t *testing.T, url string) {
	t.Helper()
	var s struct {
		State  string
		Claims []struct {
			Partition int32
			Committed int64
			Tasks     []struct{ Offset int64 }
		}
	}
	body := wantGet(t, url+"/status", http.StatusOK)
	must(t, json.Unmarshal(body, &s))
	if s.State != "member" || len(s.Claims) != 2 || len(s.Claims[1].Tasks) == 0 || s.Claims[1].Tasks[0].Offset != 1 || s.Claims[1].Committed != 1 {
		t.Errorf("the status does not show the long task: %s", body)
	}
}
