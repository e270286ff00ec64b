package handler

import (
	"fmt"
	"log/slog"
)

// Keys of log attributes, each in one place.

func attrFailure(f any) slog.Attr       { return slog.Any("failure", f) }
func attrTopic(t string) slog.Attr      { return slog.String("topic", t) }
func attrPartition(p int32) slog.Attr   { return slog.Int("partition", int(p)) }
func attrOffset(o int64) slog.Attr      { return slog.Int64("offset", o) }
func attrAttempt(n int) slog.Attr       { return slog.Int("attempt", n) }
func attrCommitted(o int64) slog.Attr   { return slog.Int64("committed", o) }
func attrMissed(n int64) slog.Attr      { return slog.Int64("missed", n) }
func attrReason(r Reason) slog.Attr     { return slog.String("reason", r.String()) }
func attrError(err error) slog.Attr     { return slog.Any("error", err) }
func attrStack(e *PanicError) slog.Attr { return slog.String("stack", fmt.Sprintf("%+v", e)) }

// attrCause is left out where there is no cause.
func attrCause(err error) slog.Attr {
	if err == nil {
		return slog.Attr{}
	}
	return slog.Any("cause", err)
}
