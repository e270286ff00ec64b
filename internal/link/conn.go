package link

import (
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"
	"time"
)

const (
	keyJoinGroup  = 11
	keyLeaveGroup = 13
	keySyncGroup  = 14
	noRequest     = -1
	keyEnd        = 6 // size int32, API key int16
)

func newConn(raw net.Conn, long time.Duration) *conn {
	c := &conn{Conn: raw, raw: raw, long: long}
	c.out.Store(noRequest)
	return c
}

// conn gives a join or a sync the long read deadline and leaves every other request the one that sarama sets. Any error ends it.
//
// sarama writes each request with one Write and sets the read deadline after it, so the two never overlap on one connection.
type conn struct {
	net.Conn          // plain bytes: the TLS connection where there is one
	raw      net.Conn // the socket
	long     time.Duration
	slow     atomic.Bool          // the last request was a join or a sync
	out      atomic.Int32         // API key of the request of which nothing of the answer has come, or noRequest
	sync     atomic.Pointer[Sync] // the last one; nil for none
	due      atomic.Bool          // a join was answered, and no sync has followed
	unnamed  atomic.Bool          // the last join asks for a member id
	left     atomic.Bool          // a leave was answered
	dead     atomic.Bool
}

// Write sees one whole request, in clear text.
func (c *conn) Write(b []byte) (int, error) {
	if len(b) >= keyEnd {
		key := binary.BigEndian.Uint16(b[keyEnd-2:])
		c.slow.Store(key == keyJoinGroup || key == keySyncGroup)
		switch key {
		case keyJoinGroup:
			c.unnamed.Store(isUnnamed(b))
		case keySyncGroup:
			c.sync.Store(newSync(b))
			c.due.Store(false)
		}
		c.out.Store(int32(key))
	}
	n, err := c.Conn.Write(b)
	return n, c.fatal(err)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	if c.slow.Load() {
		t = time.Now().Add(c.long)
	}
	return c.Conn.SetReadDeadline(t)
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		key := c.out.Load()
		c.answered(key)
		c.out.CompareAndSwap(key, noRequest) // after that: a join is out, or its sync is due
	}
	return n, c.fatal(err)
}

func (c *conn) answered(key int32) {
	switch key {
	case keyLeaveGroup:
		c.left.Store(true)
	case keyJoinGroup:
		c.due.Store(true)
	case keySyncGroup:
		s := *c.sync.Load()
		s.Answered = time.Now()
		c.sync.Store(&s)
	}
}

// Close closes the socket itself first: closing a TLS connection may wait for a writer.
func (c *conn) Close() error {
	c.dead.Store(true)
	err := c.raw.Close()
	if c.Conn == c.raw {
		return err
	}
	return c.Conn.Close()
}

// abort closes the socket as well, and takes back what the system has not sent yet. After a plain Close it goes on trying to: a commit that
// was cut off would arrive when the network is well again, after later ones over another connection, and overwrite them.
func (c *conn) abort() {
	if s, ok := c.raw.(interface{ SetLinger(sec int) error }); ok {
		_ = s.SetLinger(0) // fails on a socket that is closed
	}
	_ = c.Close()
}

// fatal ends the connection after any error, and turns a timeout into an error after which sarama drops the connection too. After
// a timeout sarama keeps it, though the goroutine that reads it has given up: every later request would fail.
func (c *conn) fatal(err error) error {
	if err == nil {
		return nil
	}
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		c.abort()
		return &lateError{err}
	}
	_ = c.Close()
	return err
}

// lateError is a missed deadline. It is a closed connection to sarama and a timeout to everybody else.
type lateError struct{ err error }

var _ net.Error = (*lateError)(nil)

func (e *lateError) Error() string   { return "no answer in time: " + e.err.Error() }
func (e *lateError) Unwrap() []error { return []error{net.ErrClosed, e.err} }
func (e *lateError) Timeout() bool   { return true }
func (e *lateError) Temporary() bool { return false }
