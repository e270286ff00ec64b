package link

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/IBM/sarama"
)

// tlsConfig returns the TLS configuration of conf, nil where TLS is off. Without one of the user's it is what sarama takes.
func tlsConfig(conf *sarama.Config) *tls.Config {
	if !conf.Net.TLS.Enable {
		return nil
	}
	if conf.Net.TLS.Config == nil {
		return &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return conf.Net.TLS.Config
}

// handshake does TLS below sarama, so that the connection above it sees requests and not ciphertext. It closes raw on error.
func handshake(ctx context.Context, raw net.Conn, addr string, conf *tls.Config) (net.Conn, error) {
	secure := tls.Client(raw, withServerName(conf, addr))
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	return secure, nil
}

func withServerName(conf *tls.Config, addr string) *tls.Config {
	if conf.ServerName != "" {
		return conf
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return conf // the handshake says that a name is missing
	}
	named := conf.Clone()
	named.ServerName = host
	return named
}
