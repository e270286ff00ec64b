// Package hook calls values by the one-method interfaces that they implement.
package hook

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/pkg/errors"
)

// Add appends v to list when it implements H.
func Add[H any](list []H, v any) []H {
	if h, ok := v.(H); ok {
		return append(list, h)
	}
	return list
}

// Tell calls each of list with event, in order. It has no closure, so that an event costs no allocation.
func Tell[H, E any](log *slog.Logger, list []H, call func(H, E), event E) {
	for _, h := range list {
		tell(log, h, call, event)
	}
}

// tell keeps a panic of the hook from the goroutine that it is called on, which may be sarama's: it would take the process down, and
// all tasks with it.
func tell[H, E any](log *slog.Logger, h H, call func(H, E), event E) {
	defer func() {
		if v := recover(); v != nil {
			log.LogAttrs(context.Background(), slog.LevelError, "a hook panicked",
				slog.String("hook", fmt.Sprintf("%T", h)), slog.String("stack", fmt.Sprintf("%+v", errors.Errorf("panic: %v", v))))
		}
	}()
	call(h, event)
}
