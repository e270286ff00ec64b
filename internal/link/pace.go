package link

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/IBM/sarama"
)

const (
	firstPause   = 100 * time.Millisecond
	longestPause = time.Second
	// A broker that refuses us has to be asked less often: each try costs it an authentication, and some lock an account.
	longestRefused = 5 * time.Second
)

// pace spaces tries out: the pause doubles with each failure in a row and is forgotten after a success. It outlives the call that
// met the failure: sarama calls Coordinator again at once, 20 times and more.
//
// One goroutine at a time uses it, that of the try.
type pace struct {
	pause time.Duration
	next  time.Time
}

// wait returns when the next try is due, or with the error of ctx.
func (p *pace) wait(ctx context.Context) error {
	return Sleep(ctx, time.Until(p.next))
}

func (p *pace) done(err error) {
	if err == nil {
		*p = pace{}
		return
	}
	longest := longestPause
	if Refused(err) {
		longest = longestRefused
	}
	p.pause = min(max(2*p.pause, firstPause), longest)
	p.next = time.Now().Add(p.pause/2 + rand.N(p.pause/2)) //nolint:gosec // spreads load, keeps no secret
}

// Sleep returns nil after d, or the error of ctx when that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Refused reports an answer of no: wrong credentials, missing rights for the group, a topic or the cluster, a certificate that is not trusted,
// a listener that speaks no TLS, a configuration that cannot work. Trying again soon does not help, and the Link does it less and less
// often.
func Refused(err error) bool {
	for _, no := range []sarama.KError{
		sarama.ErrSASLAuthenticationFailed, sarama.ErrUnsupportedSASLMechanism, sarama.ErrIllegalSASLState,
		sarama.ErrGroupAuthorizationFailed, sarama.ErrTopicAuthorizationFailed, sarama.ErrClusterAuthorizationFailed,
	} {
		if errors.Is(err, no) {
			return true
		}
	}
	var (
		untrusted *tls.CertificateVerificationError
		alert     tls.AlertError
		plain     tls.RecordHeaderError
		conf      sarama.ConfigurationError
	)
	return errors.As(err, &untrusted) || errors.As(err, &alert) || errors.As(err, &plain) || errors.As(err, &conf)
}
