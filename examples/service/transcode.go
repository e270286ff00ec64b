package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
)

// segments is in how many steps a video is transcoded.
const segments = 20

// request is the value of a message.
type request struct {
	Video  string `json:"video"`
	Length string `json:"length"` // as time.ParseDuration reads it
}

// transcoder is the handler. It is called for several partitions at once, so it keeps nothing of one task.
type transcoder struct {
	logger *slog.Logger
}

var _ handler.Handler = (*transcoder)(nil)

// Handle pretends to transcode a video.
//
// A message can come twice, after a crash or a lost partition. A real transcoder would write to a temporary place and move the result
// to a name that follows from the message, so that doing it twice does no harm.
func (t *transcoder) Handle(ctx context.Context, task *handler.Task) error {
	log := t.logger.With(slog.Int("partition", int(task.Partition)), slog.Int64("offset", task.Offset))
	var r request
	length, err := parse(task.Value, &r)
	if err != nil {
		// An error would be tried again for ever, and hold its partition. This one never passes, so somebody has to look at it.
		log.ErrorContext(ctx, "the message is not a request: skipped", slog.Any("error", err))
		return nil
	}
	log = log.With(slog.String("video", r.Video))
	log.InfoContext(ctx, "transcoding", slog.Duration("length", length))
	if err := transcode(ctx, length); err != nil {
		log.WarnContext(ctx, "transcoding was cut off, it starts again elsewhere", slog.Any("cause", err))
		return err
	}
	log.InfoContext(ctx, "transcoded")
	return nil
}

func parse(value []byte, r *request) (time.Duration, error) {
	if err := json.Unmarshal(value, r); err != nil {
		return 0, err
	}
	return time.ParseDuration(r.Length)
}

// transcode looks at its context between two segments, as any long work should.
func transcode(ctx context.Context, length time.Duration) error {
	for range segments {
		select {
		case <-time.After(length / segments):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
