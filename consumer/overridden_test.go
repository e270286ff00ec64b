package consumer_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// toldAtStart is what a Run that is stopped at once logs.
func toldAtStart(t *testing.T, change func(*consumer.Config)) string {
	t.Helper()
	var out bytes.Buffer
	c := newConsumer(t, func(cfg *consumer.Config) {
		cfg.Logger = slog.New(slog.NewJSONHandler(&out, nil))
		change(cfg)
	})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := c.Run(ctx); err != nil {
		t.Error(err)
	}
	return out.String()
}

// Settings of the base that the plan replaces are named, once, with what holds in their place; those that stay are not, nor what nobody
// has chosen.
func TestSettingsThatThePlanReplacesAreTold(t *testing.T) {
	got := toldAtStart(t, withBase(func(c *sarama.Config) {
		c.Consumer.Group.Session.Timeout = 20 * time.Second
		c.Consumer.Offsets.Initial = -5
		c.Consumer.Group.Heartbeat.Interval = 3 * time.Second // as the plan has it
		c.ClientID, c.Version, c.Net.MaxOpenRequests = "reports-7", sarama.V2_8_0_0, 3
		c.Net.DialTimeout = time.Minute
	}))
	want := `"settings":["Net.DialTimeout 1m (plan: 5s)","Consumer.Group.Session.Timeout 20s (plan: 5m)","Consumer.Offsets.Initial -5 (plan: -2)"]`
	if strings.Count(got, "the plan replaces these settings of Config.Sarama") != 1 || !strings.Contains(got, want) {
		t.Errorf("told %s, want %s", got, want)
	}
	if got := toldAtStart(t, withBase(func(*sarama.Config) {})); strings.Contains(got, "replaces") {
		t.Errorf("of a base without choices: %s", got)
	}
}

// An order that lets more run at once than there are partitions is of little use with the default number of slots.
func TestAnOrderWithoutSlotsIsWarnedOf(t *testing.T) {
	for _, test := range []struct {
		order handler.Order
		slots int
		want  string
	}{
		{handler.ByKey, 0, "Order is key and Slots is 0: no more tasks run at once than partitions are held; set Slots"},
		{handler.None, 0, "Order is none and Slots is 0"},
		{handler.ByKey, 8, ""},
		{handler.ByPartition, 0, ""},
	} {
		got := toldAtStart(t, func(c *consumer.Config) { c.Order, c.Slots = test.order, test.slots })
		if !strings.Contains(got, test.want) || strings.Contains(got, "set Slots") != (test.want != "") {
			t.Errorf("order by %v with %d slots: told %s", test.order, test.slots, got)
		}
	}
}
