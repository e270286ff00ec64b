package link_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

const secret = "hunter2-hunter2"

func asErr[E error](err error, target *E) bool { return errors.As(err, target) }

// withPassword makes the broker ask for a password and accept it or not.
func withPassword(t *testing.T, w *world, answer sarama.KError) {
	t.Helper()
	w.conf.Net.SASL.Enable = true
	w.conf.Net.SASL.Mechanism = sarama.SASLTypePlaintext
	w.conf.Net.SASL.User, w.conf.Net.SASL.Password = "reporter", secret
	w.answers["SaslHandshakeRequest"] = sarama.NewMockSaslHandshakeResponse(t).SetEnabledMechanisms([]string{sarama.SASLTypePlaintext})
	auth := sarama.NewMockSaslAuthenticateResponse(t)
	if answer != sarama.ErrNoError {
		auth.SetError(answer)
	}
	w.answers["SaslAuthenticateRequest"] = auth
	w.answer()
}

func TestPasswordAccepted(t *testing.T) {
	w := newWorld(t)
	withPassword(t, w, sarama.ErrNoError)
	l := w.link(t, nil)
	if _, err := coordinator(t, l).Heartbeat(&sarama.HeartbeatRequest{}); err != nil {
		t.Fatal(err)
	}
}

// B09: wrong credentials reach the caller as what they are, at the first try, without the password.
func TestWrongPasswordIsReturnedByNew(t *testing.T) {
	w := newWorld(t)
	withPassword(t, w, sarama.ErrSASLAuthenticationFailed)
	_, err := link.New(t.Context(), []string{w.broker.Addr()}, group, w.conf, w.options())
	wantErr(t, err, sarama.ErrSASLAuthenticationFailed)
	if errors.Is(err, sarama.ErrOutOfBrokers) {
		t.Errorf("hidden behind another error: %v", err)
	}
	if text := err.Error() + w.log.String(); strings.Contains(text, secret) {
		t.Errorf("the password is in %q", text)
	}
}

// B09: a mechanism that the broker does not know fails in the handshake.
func TestUnknownMechanismIsReturnedByNew(t *testing.T) {
	w := newWorld(t)
	withPassword(t, w, sarama.ErrNoError)
	w.answers["SaslHandshakeRequest"] = sarama.NewMockSaslHandshakeResponse(t).SetError(sarama.ErrUnsupportedSASLMechanism)
	w.answer()
	_, err := link.New(t.Context(), []string{w.broker.Addr()}, group, w.conf, w.options())
	wantErr(t, err, sarama.ErrUnsupportedSASLMechanism)
}

// TestMissingRightsAreReturnedByNew: for the group, which the lookup needs.
func TestMissingRightsAreReturnedByNew(t *testing.T) {
	w := newWorld(t)
	w.answers["FindCoordinatorRequest"] = sarama.NewMockFindCoordinatorResponse(t).
		SetError(sarama.CoordinatorGroup, group, sarama.ErrGroupAuthorizationFailed)
	w.answer()
	_, err := link.New(t.Context(), []string{w.broker.Addr()}, group, w.conf, w.options())
	wantErr(t, err, sarama.ErrGroupAuthorizationFailed)
	if !link.Refused(err) {
		t.Error("not taken for a refusal")
	}
}

// TestMissingRightsForATopicAreARefusal: to be asked for less and less often, and by no member of long standing given up for.
func TestMissingRightsForATopicAreARefusal(t *testing.T) {
	w := newWorld(t)
	w.answers["MetadataRequest"] = w.topics("orders").SetError("secret", sarama.ErrTopicAuthorizationFailed)
	w.answer()
	err := w.link(t, nil).RefreshMetadata("orders", "secret")
	wantErr(t, err, sarama.ErrTopicAuthorizationFailed)
	if !link.Refused(err) {
		t.Error("not taken for a refusal")
	}
}

// B09: when credentials stop working in mid-run, the callers are told at once, each further try waits longer, and when they work again
// so does the Link.
func TestRefusalsAreSpacedOut(t *testing.T) {
	w := newWorld(t)
	withPassword(t, w, sarama.ErrNoError)
	l := w.link(t, nil)
	b := coordinator(t, l)
	withPassword(t, w, sarama.ErrSASLAuthenticationFailed)
	w.wire.breakAll()
	if _, err := b.Heartbeat(&sarama.HeartbeatRequest{}); err == nil {
		t.Fatal("the connection is not broken")
	}
	handshakes, from := w.wire.count(saslHandshake), time.Now()
	const calls = 6
	for range calls {
		_, err := l.Coordinator(group)
		wantErr(t, err, sarama.ErrSASLAuthenticationFailed)
	}
	// One pause of at least 50, 100, 200 ms and so on lies before each call but the first two: one meets the broken connection, and
	// the next looks the coordinator up anew.
	if took, least := time.Since(from), 50*time.Millisecond*(1+2+4+8); took < least {
		t.Errorf("%d calls took %s, want %s at least", calls, took, least)
	}
	if n := w.wire.count(saslHandshake) - handshakes; n > 2*calls {
		t.Errorf("%d authentications in %d calls", n, calls)
	}
	if n := strings.Count(w.log.String(), "\n"); n != 1 {
		t.Errorf("%d log lines, want 1:\n%s", n, w.log)
	}
	if strings.Contains(w.log.String(), secret) {
		t.Error("the password is in the log")
	}
	withPassword(t, w, sarama.ErrNoError)
	eventually(t, "it works again", func() bool { _, err := l.Coordinator(group); return err == nil })
}

// TestNewEndsWithItsContext: also while a dial is pending.
func TestNewEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	w.conf.Net.DialTimeout = time.Hour
	w.conf.Metadata.Full = true
	w.wire.hole("*")
	ctx, cancel := context.WithCancel(t.Context())
	done := async(func() error {
		_, err := link.New(ctx, []string{w.broker.Addr()}, group, w.conf, w.options())
		return err
	})
	eventually(t, "a dial is pending", func() bool { return len(w.wire.dials()) > 0 })
	cancel()
	wantErr(t, wait(t, "New", done), context.Canceled)
}
