package kafkatest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// identity is a server certificate for 127.0.0.1, made for one start and signed by an authority of its own.
type identity struct {
	keystore []byte         // key and chain, PEM, as Kafka reads it
	roots    *x509.CertPool // what a client has to trust
}

func newIdentity() (*identity, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	authority := certificate(1, "kafkatest authority")
	authority.IsCA, authority.BasicConstraintsValid = true, true
	authority.KeyUsage = x509.KeyUsageCertSign
	caBytes, err := x509.CreateCertificate(rand.Reader, authority, authority, &caKey.PublicKey, caKey)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	server := certificate(2, "kafkatest node")
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	server.KeyUsage, server.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	serverBytes, err := x509.CreateCertificate(rand.Reader, server, authority, &key.PublicKey, caKey)
	if err != nil {
		return nil, err
	}
	return newPEM(key, serverBytes, caBytes)
}

func certificate(serial int64, name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(24 * time.Hour),
	}
}

func newPEM(key *ecdsa.PrivateKey, server, authority []byte) (*identity, error) {
	keyBytes, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, block := range []pem.Block{{Type: "PRIVATE KEY", Bytes: keyBytes}, {Type: "CERTIFICATE", Bytes: server}, {Type: "CERTIFICATE", Bytes: authority}} {
		if err := pem.Encode(&out, &block); err != nil {
			return nil, err
		}
	}
	root, err := x509.ParseCertificate(authority)
	if err != nil {
		return nil, err
	}
	id := &identity{keystore: out.Bytes(), roots: x509.NewCertPool()}
	id.roots.AddCert(root)
	return id, nil
}
