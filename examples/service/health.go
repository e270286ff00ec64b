package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// health serves what an orchestrator and people ask.
//
//	/livez   200 until Run has returned. Neither a long task nor brokers that are away are a reason to restart the program.
//	/readyz  200 while it is a member of the group and all of its topics exist. Without its topic it waits, and somebody has to create it.
//	/status  what it does now, as JSON: see consumer.Status
func health(c *consumer.Consumer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		s := c.Status()
		answer(w, s.State != consumer.StateStopped, s)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		s := c.Status()
		answer(w, s.State == consumer.StateMember && len(s.Missing) == 0, s)
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(c.Status()) // the client went away
	})
	return mux
}

// answer says in words what the code says.
func answer(w http.ResponseWriter, good bool, s consumer.Status) {
	if !good {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	text := string(s.State)
	if len(s.Missing) > 0 {
		text += ", missing topics: " + strings.Join(s.Missing, ", ")
	}
	_, _ = fmt.Fprintln(w, text)
}
