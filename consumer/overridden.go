package consumer

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/span"
)

// tellReplaced names the settings of the base that somebody has chosen and that do not hold: the plan has others.
func (c *Consumer) tellReplaced(ctx context.Context) {
	base := c.cfg.base()
	if base == nil || c.cfg.ConsumerGroup != nil {
		return
	}
	applied, err := c.cfg.settings(c.cfg.Plan)
	if err != nil {
		return // New has refused it
	}
	list := replaced("", reflect.ValueOf(*base), reflect.ValueOf(*applied), reflect.ValueOf(*sarama.NewConfig()))
	if len(list) == 0 {
		return
	}
	owner := "Config.Sarama"
	if c.cfg.Client != nil {
		owner = "Config.Client"
	}
	c.log.InfoContext(ctx, "the plan replaces these settings of "+owner+": timeouts, buffers, offsets and commits come from it", slog.Any("settings", list))
}

// replaced walks through three configurations and names what differs in the first one from both others. What can be shared, such as a
// dialer, is never replaced, and strategies and version have an error of their own.
func replaced(path string, base, applied, untouched reflect.Value) (list []string) {
	if base.Kind() == reflect.Struct && base.Type() != reflect.TypeFor[sarama.KafkaVersion]() {
		for field := range base.Type().Fields() {
			name := strings.TrimPrefix(path+"."+field.Name, ".")
			list = append(list, replaced(name, base.FieldByIndex(field.Index), applied.FieldByIndex(field.Index), untouched.FieldByIndex(field.Index))...)
		}
	}
	plain := base.CanInt() || base.Kind() == reflect.Bool || base.Kind() == reflect.String
	if plain && !base.Equal(applied) && !base.Equal(untouched) {
		list = append(list, fmt.Sprintf("%s %v (plan: %v)", path, shown(base), shown(applied)))
	}
	return list
}

func shown(v reflect.Value) any {
	if d, ok := reflect.TypeAssert[time.Duration](v); ok {
		return span.Text(d)
	}
	return v
}

// tellFewSlots warns of an order that lets more run at once than the default number of slots does.
func (c *Consumer) tellFewSlots(ctx context.Context) {
	if c.cfg.Order == handler.ByPartition || c.cfg.Slots > 0 {
		return
	}
	c.log.WarnContext(ctx, fmt.Sprintf("Order is %v and Slots is 0: no more tasks run at once than partitions are held; set Slots", c.cfg.Order))
}
