package link_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

// settings is an answer of a broker.
func settings(pairs map[string]string) sarama.MockResponse {
	r := &sarama.ResourceResponse{Type: sarama.BrokerResource, Name: "1"}
	for name, value := range pairs {
		r.Configs = append(r.Configs, &sarama.ConfigEntry{Name: name, Value: value})
	}
	return sarama.NewMockWrapper(&sarama.DescribeConfigsResponse{Version: 4, Resources: []*sarama.ResourceResponse{r}})
}

// TestSettings: the coordinator is asked, for its own. Only the broker itself tells them.
func TestSettings(t *testing.T) {
	seed, w := newWorld(t), newWorld(t)
	seed.answers["FindCoordinatorRequest"] = w.answers["FindCoordinatorRequest"]
	seed.answer()
	want := map[string]string{"a": "1", "b": ""}
	w.answers["DescribeConfigsRequest"] = settings(want)
	w.answer()
	l := seed.link(t, nil)
	got, err := l.Settings(t.Context(), "a", "b")
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("settings %v, %v, want %v", got, err, want)
	}
	for _, r := range w.broker.History() {
		if d, ok := r.Request.(*sarama.DescribeConfigsRequest); ok && d.Resources[0].Name != "1" {
			t.Errorf("asked broker 1 for the settings of broker %s", d.Resources[0].Name)
		}
	}
}

// TestSettingsEndWithTheirContext: and with the Link. sarama's client, which no Cut ends when a user's dialer has made its connection, has
// no part in it.
func TestSettingsEndWithTheirContext(t *testing.T) {
	w := newWorld(t)
	l := w.link(t, func(o *link.Options) { o.Short = time.Hour })
	w.hang("DescribeConfigsRequest")
	ctx, cancel := context.WithCancel(t.Context())
	asked := async(func() error { _, err := l.Settings(ctx, "a"); return err })
	eventually(t, "the question is sent", func() bool { return w.wire.count(describeConfigs) == 1 })
	cancel()
	wantErr(t, wait(t, "Settings", asked), context.Canceled)

	asked = async(func() error { _, err := l.Settings(t.Context(), "a"); return err })
	eventually(t, "the question is sent again", func() bool { return w.wire.count(describeConfigs) == 2 })
	if err := wait(t, "Close", async(l.Close)); err != nil {
		t.Error(err)
	}
	if err := wait(t, "Settings", asked); err == nil {
		t.Error("settings came over a closed link")
	}
	eventually(t, "nothing is left", func() bool { return w.wire.open() == 0 })
}
