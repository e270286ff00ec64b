package config_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
)

func ExampleFor() {
	plan, err := config.For(5 * time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("session", plan.SessionTimeout, "heartbeat", plan.HeartbeatInterval, "rebalance", plan.RebalanceTimeout)
	// Output: session 5m0s heartbeat 3s rebalance 1m30s
}

func ExampleInput_Plan() {
	plan, err := config.Input{
		Expected:       2 * time.Hour,
		Max:            5 * time.Hour,
		CrashDetection: 30 * time.Second,
		InstanceID:     "transcoder-0",
		Broker:         config.BrokerLimits{MaxSessionTimeout: 5 * time.Minute},
	}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("session", plan.SessionTimeout, "lease", plan.Lease, "grace", plan.Grace)
	// Output: session 30s lease 25s grace 5s
}

// Nonsense is an error that says what to put there.
func ExampleFaultError() {
	_, err := config.For(300 * 24 * time.Hour)
	fault, ok := errors.AsType[*config.FaultError](err)
	fmt.Println(ok, errors.Is(err, config.ErrInput), fault.Field)
	fmt.Println(err)
	// Output:
	// true true Expected
	// config input: Expected is 7200h: everything is derived from how long a task usually takes; use 1ms to 168h
}

func ExamplePlan_String() {
	plan, err := config.For(5 * time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	lines := strings.Split(plan.String(), "\n")
	fmt.Println(strings.Join(lines[:7], "\n"))
	// Output:
	// Plan for tasks of 5m, up to 15m: cooperative rebalancing, a dynamic member
	//   SessionTimeout         5m                  Consumer.Group.Session.Timeout: 1.2 × Expected, at least 45s and
	//                                              at most 5m; the broker takes 6s to 30m. After a crash the
	//                                              partitions lie idle this long. It need not exceed a task:
	//                                              heartbeats do not wait for tasks
	//   HeartbeatInterval      3s                  Consumer.Group.Heartbeat.Interval: 3s, or a third of the session
	//                                              or rebalance timeout: it carries the rebalance signal
}

// The broker's limits are known only once it was asked.
func ExamplePlan_WithBroker() {
	plan, err := config.For(time.Hour)
	if err != nil {
		fmt.Println(err)
		return
	}
	read := config.BrokerLimits{MinSessionTimeout: 6 * time.Second, MaxSessionTimeout: time.Minute}
	fitted, err := plan.WithBroker(read)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("session", plan.SessionTimeout, "then", fitted.SessionTimeout)
	// Output: session 5m0s then 1m0s
}

func ExamplePlan_Apply() {
	base := sarama.NewConfig()
	base.ClientID = "reports"

	plan, err := config.For(5 * time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg, err := plan.Apply(base)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cfg.ClientID, cfg.Consumer.Group.Session.Timeout, cfg.ChannelBufferSize)
	fmt.Println(base.ClientID, base.Consumer.Group.Session.Timeout, base.ChannelBufferSize)
	// Output:
	// reports 5m0s 1
	// reports 10s 256
}

func ExamplePlan_ApplyMember() {
	plan, err := config.For(5 * time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg, err := plan.ApplyMember(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cfg.Net.ReadTimeout, cfg.Metadata.Retry.Max, cfg.Consumer.Offsets.AutoCommit.Enable)
	// Output: 10s 20 false
}

func ExampleCheck() {
	cfg := sarama.NewConfig()
	cfg.Consumer.Group.Session.Timeout = 45 * time.Second
	cfg.Consumer.MaxProcessingTime = 5 * time.Minute // the classic mistake
	for _, fault := range config.Check(cfg, 5*time.Minute) {
		if fault.Field == "Consumer.MaxProcessingTime" {
			fmt.Println(fault.Value, "should be", fault.Use)
		}
	}
	// Output: 5m should be 100ms
}

// What is known of the group makes the check sharper.
func ExampleInput_Check() {
	plan, err := config.For(5 * time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg, err := plan.Apply(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	besideJava := config.Input{Expected: 5 * time.Minute, GroupRebalanceTimeout: 5 * time.Minute}
	for _, fault := range besideJava.Check(cfg) {
		fmt.Println(fault.Field, fault.Value, "should be", fault.Use)
	}
	// Output: Net.ReadTimeout 1m35s should be 5m5s
}
