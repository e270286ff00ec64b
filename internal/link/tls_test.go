package link_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/internal/link"
)

// certificate returns one for 127.0.0.1 that signs itself, and a pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func newTLSWorld(t *testing.T) (*world, *x509.CertPool) {
	t.Helper()
	cert, pool := certificate(t)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldAt(t, listener)
	w.conf.Net.TLS.Enable = true
	return w, pool
}

// TestTLS: every connection is encrypted, the name checked, and the deadlines hold: the requests are read before they are encrypted.
func TestTLS(t *testing.T) {
	w, pool := newTLSWorld(t)
	w.conf.Net.TLS.Config = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	l := w.link(t, func(o *link.Options) { o.Short, o.Long = 500*time.Millisecond, 500*time.Millisecond })
	if _, err := l.Commit(t.Context(), commitRequest(w.conf)); err != nil {
		t.Fatal(err)
	}
	if err := l.RefreshMetadata("orders"); err != nil {
		t.Fatal(err)
	}
	b := coordinator(t, l)
	w.hang("JoinGroupRequest")
	join := async(func() error { _, err := b.JoinGroup(&sarama.JoinGroupRequest{}); return err })
	wantErr(t, wait(t, "join", join), net.ErrClosed)
	if w.conf.Net.TLS.Config.ServerName != "" {
		t.Error("the user's TLS configuration was changed")
	}
}

// TestJoinOverTLSGetsTheLongDeadline: the broker answers after several short ones.
func TestJoinOverTLSGetsTheLongDeadline(t *testing.T) {
	w, pool := newTLSWorld(t)
	w.conf.Net.TLS.Config = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	l := w.link(t, func(o *link.Options) { o.Short = 500 * time.Millisecond })
	b := coordinator(t, l)
	w.broker.SetLatency(1500 * time.Millisecond)
	join := async(func() error { _, err := b.JoinGroup(&sarama.JoinGroupRequest{}); return err })
	if err := wait(t, "join", join); err != nil {
		t.Fatal(err)
	}
}

// stuck is a connection whose writes hang once it is told so, until it is closed: the peer reads no more, and all buffers are full.
type stuck struct {
	net.Conn
	full   *atomic.Bool
	closed chan struct{}
	close  func()
}

func (s *stuck) Write(b []byte) (int, error) {
	if s.full.Load() {
		<-s.closed
		return 0, net.ErrClosed
	}
	return s.Conn.Write(b)
}

func (s *stuck) Close() error {
	s.close()
	return s.Conn.Close()
}

// TestCloseOverTLSSaysNoGoodbye: TLS would write one, and wait 5 s for a peer that reads no more.
func TestCloseOverTLSSaysNoGoodbye(t *testing.T) {
	w, pool := newTLSWorld(t)
	w.conf.Net.TLS.Config = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	var full atomic.Bool
	w.conf.Net.Proxy.Dialer = blind{func(network, addr string) (net.Conn, error) {
		c, err := w.wire.Dial(network, addr)
		if err != nil {
			return nil, err
		}
		closed := make(chan struct{})
		return &stuck{Conn: c, full: &full, closed: closed, close: sync.OnceFunc(func() { close(closed) })}, nil
	}}
	l := w.link(t, nil)
	coordinator(t, l)
	full.Store(true)
	if err := wait(t, "Close", async(l.Close)); err != nil {
		t.Errorf("Close waits for the peer: %v", err)
	}
}

// B09: a certificate that is not trusted is said to be that.
func TestUntrustedCertificate(t *testing.T) {
	w, _ := newTLSWorld(t)
	_, err := link.New(t.Context(), []string{w.broker.Addr()}, group, w.conf, w.options())
	var untrusted *tls.CertificateVerificationError
	if !asErr(err, &untrusted) || errors.Is(err, sarama.ErrOutOfBrokers) {
		t.Errorf("error %v", err)
	}
}

// TestTLSAgainstClearText: a listener that speaks no TLS is a refusal, not silence.
func TestTLSAgainstClearText(t *testing.T) {
	w := newWorld(t)
	w.conf.Net.TLS.Enable = true
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	// Ends with the listener.
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("SSH-2.0-whatever\r\n"))
			defer c.Close()
		}
	}()
	_, err = link.New(t.Context(), []string{listener.Addr().String()}, group, w.conf, w.options())
	var plain tls.RecordHeaderError
	if !asErr(err, &plain) {
		t.Errorf("error %v", err)
	}
}
