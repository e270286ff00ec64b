package config_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
)

// rows are the printed values by name, each with all its text on one line.
func rows(p *config.Plan) map[string]string {
	out := map[string]string{}
	name := ""
	for line := range strings.Lines(p.String()) {
		if !strings.HasPrefix(line, "  ") {
			name = ""
			continue
		}
		if line[2] != ' ' {
			name, _, _ = strings.Cut(line[2:], " ")
		}
		out[name] = strings.Join(strings.Fields(out[name]+" "+line), " ")
	}
	return out
}

func TestStringExplainsEveryValue(t *testing.T) {
	for _, in := range []config.Input{
		{Expected: 5 * time.Minute},
		{Expected: 20 * ms, Eager: true, InstanceID: "pod-1"},
		{Expected: hr, Grace: config.NoGrace, StopGrace: config.NoGrace, CrashDetection: 7 * sec, Heartbeat: sec},
		{Expected: hr, Grace: sec, StopGrace: sec, GroupRebalanceTimeout: hr},
	} {
		p := mustPlan(t, in)
		printed := rows(p)
		for field, value := range reflect.ValueOf(p).Elem().Fields() {
			if !field.IsExported() || field.Name == "Input" {
				continue
			}
			row, ok := printed[field.Name]
			if !ok {
				t.Errorf("no row for %s", field.Name)
			}
			if len(strings.Fields(row)) < 7 {
				t.Errorf("%s has no reason: %q", field.Name, row)
			}
			if value.Kind() != reflect.Int64 && value.Kind() != reflect.Int32 && !strings.Contains(row, fmt.Sprint(value)) {
				t.Errorf("%q does not show %v", row, value)
			}
		}
	}
}

// Every field that Apply may set is in the table.
func TestStringNamesEverySaramaField(t *testing.T) {
	text := strings.Join(strings.Fields(mustPlan(t, config.Input{Expected: hr}).String()), " ")
	for _, field := range derivedFields {
		named := strings.Contains(text, field) || strings.HasPrefix(field, "Metadata.Retry.") && strings.Contains(text, "Metadata.Retry:")
		if !named && field != "Consumer.Group.InstanceId" {
			t.Errorf("%s is not in the table", field)
		}
	}
}

func TestStringSaysWhichBranchWasTaken(t *testing.T) {
	for name, c := range map[string]struct {
		in        config.Input
		row, text string
	}{
		"derived session":   {config.Input{Expected: hr}, "SessionTimeout", "1.2 × Expected"},
		"wished session":    {config.Input{Expected: hr, CrashDetection: 8 * sec}, "SessionTimeout", "as CrashDetection asks"},
		"broker's limits":   {config.Input{Expected: hr, Broker: broker(0, 5*time.Minute)}, "SessionTimeout", "takes 6s to 5m"},
		"static member":     {config.Input{Expected: hr, InstanceID: "pod-1"}, "SessionTimeout", "how long a restart of this static member may take"},
		"heartbeat":         {config.Input{Expected: hr}, "HeartbeatInterval", "rebalance signal"},
		"wished heartbeat":  {config.Input{Expected: hr, Heartbeat: sec}, "HeartbeatInterval", "as Heartbeat asks"},
		"long":              {config.Input{Expected: hr}, "RebalanceTimeout", "no rebalance waits for a task"},
		"short":             {config.Input{Expected: sec}, "RebalanceTimeout", "1.2 × Max"},
		"wished grace":      {config.Input{Expected: hr, Grace: sec}, "Grace", "as Grace asks"},
		"no grace":          {config.Input{Expected: hr, Grace: config.NoGrace}, "Grace", "none, as Grace asks"},
		"short, eager":      {config.Input{Expected: sec, Eager: true}, "Grace", "than eager rebalancing bears"},
		"cancel first":      {config.Input{Expected: hr}, "CancelFirst", "start of the grace"},
		"cancel last":       {config.Input{Expected: sec}, "CancelFirst", "end of the grace"},
		"stop":              {config.Input{Expected: sec}, "StopGrace", "1.2 × Max"},
		"stop, long":        {config.Input{Expected: hr}, "StopGrace", "time to wind down"},
		"stop, wished":      {config.Input{Expected: hr, StopGrace: hr}, "StopGrace", "as StopGrace asks"},
		"hold":              {config.Input{Expected: hr}, "HoldLimit", "3h Max"},
		"hold, short":       {config.Input{Expected: sec}, "HoldLimit", "0s none: tasks are expected to take less than 10s"},
		"hold, none":        {config.Input{Expected: hr, HoldLimit: config.NoHold}, "HoldLimit", "0s none, as NoHold asks"},
		"hold, wished":      {config.Input{Expected: sec, HoldLimit: hr}, "HoldLimit", "1h as HoldLimit asks"},
		"stop, first":       {config.Input{Expected: hr}, "StopCancelFirst", "start of StopGrace"},
		"stop, last":        {config.Input{Expected: hr, StopGrace: hr}, "StopCancelFirst", "end of StopGrace"},
		"stop, none":        {config.Input{Expected: hr, StopGrace: config.NoGrace}, "StopGrace", "cancels its tasks at once"},
		"lease":             {config.Input{Expected: hr, CrashDetection: 6 * sec}, "Lease", "6s, less 1.5s to react"},
		"join":              {config.Input{Expected: hr}, "JoinReadTimeout", "the rebalance timeout and 5s"},
		"join, Java":        {config.Input{Expected: hr, GroupRebalanceTimeout: hr}, "JoinReadTimeout", "GroupRebalanceTimeout and 5s"},
		"commits together":  {config.Input{Expected: ms}, "CommitInterval", "committed together"},
		"commits at once":   {config.Input{Expected: sec}, "CommitInterval", "at once"},
		"strategy, eager":   {config.Input{Expected: sec, Eager: true}, "Strategy", "Strategy sticky"},
		"the zombie window": {config.Input{Expected: 5 * time.Minute}, "ReadTimeout", "for up to 1m53s"},
		"sizes":             {config.Input{Expected: hr}, "FetchDefault", "64 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			if row := rows(mustPlan(t, c.in))[c.row]; !strings.Contains(row, c.text) {
				t.Errorf("%q is not in %q", c.text, row)
			}
		})
	}
}

func TestStringHeading(t *testing.T) {
	for want, in := range map[string]config.Input{
		"Plan for tasks of 5m, up to 15m: cooperative rebalancing, a dynamic member\n": {Expected: 5 * time.Minute},
		"Plan for tasks of 1h30m, up to 2h: eager rebalancing, static member pod-1\n":  {Expected: 90 * time.Minute, Max: 2 * hr, Eager: true, InstanceID: "pod-1"},
	} {
		if got := mustPlan(t, in).String(); !strings.HasPrefix(got, want) {
			t.Errorf("got %.120q, want %q", got, want)
		}
	}
	long := mustPlan(t, config.Input{Expected: sec, InstanceID: strings.Repeat("x", 249)})
	wantText(func(ok bool, what string) {
		if !ok {
			t.Error(what)
		}
	}, long)
}
