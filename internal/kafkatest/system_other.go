//go:build !unix

package kafkatest

import (
	"context"
	"errors"
)

var errSystem = errors.New("a real Kafka is started on Unix systems only")

func supported() error { return errSystem }

func lock(context.Context, string) (func(), error) { return nil, errSystem }
