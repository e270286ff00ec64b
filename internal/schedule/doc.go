// Package schedule decides which message may start now: which claim is served next, and how many of its messages in one go.
//
// It is pure: no goroutine, no clock, no lock, no sarama. Whoever shares a value of it between goroutines brings the lock
// (the pool of package handler does).
package schedule
