package main

import (
	"encoding/json"
	"net/http"

	"github.com/evenkeel-go/evenkeel/consumer"
)

// health serves what an orchestrator and people ask.
//
//	/livez   200 until Run has returned. Neither a long task nor brokers that are away are a reason to restart the program.
//	/readyz  200 while it is a member of the group
//	/status  what it does now, as JSON
func health(c *consumer.Consumer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, c.Status().State, c.Status().State != consumer.StateStopped)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, c.Status().State, c.Status().State == consumer.StateMember)
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reportOf(c.Status())) // the client went away
	})
	return mux
}

func answer(w http.ResponseWriter, state consumer.State, good bool) {
	if !good {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write([]byte(string(state) + "\n"))
}
