package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-go/evenkeel/config"
)

// settings are flags, with the environment as their defaults.
type settings struct {
	brokers      []string
	group, topic string
	expected     time.Duration
	stopGrace    time.Duration
	slots        int
	listen       string
	planOnly     bool
}

var errMissing = errors.New("missing setting")

// readSettings returns flag.ErrHelp when it was asked for the usage, and has written that to help.
func readSettings(args []string, env func(string) string, help io.Writer) (settings, error) {
	s := settings{expected: 5 * time.Minute}
	flags := flag.NewFlagSet("service", flag.ContinueOnError)
	flags.Func("brokers", "`host:port,...` (BROKERS)", func(list string) error {
		s.brokers = strings.Split(list, ",")
		return nil
	})
	flags.StringVar(&s.group, "group", "", "consumer group (GROUP)")
	flags.StringVar(&s.topic, "topic", "", "topic (TOPIC)")
	flags.DurationVar(&s.expected, "expected", s.expected, "how long a task usually takes (EXPECTED)")
	flags.DurationVar(&s.stopGrace, "stop-grace", 0, "how long tasks may go on at a stop, hours are fine; 0: 25s or less (STOP_GRACE)")
	flags.IntVar(&s.slots, "slots", 0, "tasks at once; 0: one a partition (SLOTS)")
	flags.StringVar(&s.listen, "listen", ":8080", "address of the health endpoints (LISTEN)")
	err := fromEnvironment(flags, env)
	flags.BoolVar(&s.planOnly, "plan", false, "print timeouts and buffers for -expected, each with its reason, and exit")
	flags.SetOutput(io.Discard) // Parse returns what it would print
	switch parsed := flags.Parse(args); {
	case errors.Is(parsed, flag.ErrHelp):
		flags.SetOutput(help)
		flags.Usage()
		return s, flag.ErrHelp
	case parsed != nil:
		return s, fmt.Errorf("%w (-h lists all flags)", parsed)
	case err != nil:
		return s, err
	}
	return s, s.check()
}

// fromEnvironment sets each flag whose variable, its name in upper case and with _ for -, is there.
func fromEnvironment(flags *flag.FlagSet, env func(string) string) error {
	var errs []error
	flags.VisitAll(func(f *flag.Flag) {
		name := strings.ReplaceAll(strings.ToUpper(f.Name), "-", "_")
		if value := env(name); value != "" {
			if err := flags.Set(f.Name, value); err != nil {
				errs = append(errs, fmt.Errorf("%s=%s: %w", name, strconv.Quote(value), err))
			}
		}
	})
	return errors.Join(errs...)
}

// plan derives the timeouts.
func (s settings) plan() (*config.Plan, error) {
	return config.Input{Expected: s.expected, StopGrace: s.stopGrace}.Plan()
}

// check leaves what evenkeel checks by itself to evenkeel: the brokers, the duration, the slots.
func (s settings) check() error {
	if !s.planOnly && (s.group == "" || s.topic == "") {
		return fmt.Errorf("%w: set -group and -topic", errMissing)
	}
	return nil
}
