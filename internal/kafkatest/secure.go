package kafkatest

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/IBM/sarama"
)

// Door is a way into a node that was started with [Options.Secure].
type Door string

// The doors. All but TLS ask for a user's name and password, or a token, inside TLS.
const (
	TLS   Door = "TLS"
	Plain Door = sarama.SASLTypePlaintext
	SCRAM Door = sarama.SASLTypeSCRAMSHA512
	OAuth Door = sarama.SASLTypeOAuth // with unsigned tokens
)

// Doors are all of them.
func Doors() []Door { return []Door{TLS, Plain, SCRAM, OAuth} }

// User and Password open the doors Plain and SCRAM. User is also the subject of OAuth's token.
const (
	User     = "tester"
	Password = "secret"
)

const (
	tlsListener  = "TLS"
	saslListener = "SASL"
)

func (d Door) listener() string {
	if d == TLS {
		return tlsListener
	}
	return saslListener
}

// Through is the broker as a client sees it that comes through a door: address and configuration are the door's. The node must
// have been started with [Options.Secure].
func (n *Node) Through(d Door) *Remote {
	return through([]*Node{n}, n.identity, d)
}

// Through is the cluster through a door, see [Node.Through].
func (c *NodeCluster) Through(d Door) *Remote {
	return through(c.nodes, c.nodes[0].identity, d)
}

func through(nodes []*Node, id *identity, d Door) *Remote {
	addrs := func(only func(*Node) bool) (out []string) {
		for _, n := range nodes {
			if only(n) {
				out = append(out, loopback(n.listener(d.listener()).advertised))
			}
		}
		return out
	}
	return &Remote{
		addrs: func() []string { return addrs(func(*Node) bool { return true }) },
		reach: func() []string { return addrs((*Node).up) },
		config: func() *sarama.Config {
			cfg := nodes[0].Config()
			cfg.Net.TLS.Enable = true
			cfg.Net.TLS.Config = &tls.Config{RootCAs: id.roots, MinVersion: tls.VersionTLS12}
			d.authenticate(cfg)
			return cfg
		},
	}
}

func (d Door) authenticate(cfg *sarama.Config) {
	if d == TLS {
		return
	}
	sasl := &cfg.Net.SASL
	sasl.Enable, sasl.Mechanism = true, sarama.SASLMechanism(d)
	sasl.User, sasl.Password = User, Password
	sasl.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &scramClient{} }
	sasl.TokenProvider = tokens{}
}

// tokens hands out unsigned tokens, valid for an hour.
type tokens struct{}

func (tokens) Token() (*sarama.AccessToken, error) {
	part := base64.RawURLEncoding.EncodeToString
	now := time.Now().Unix()
	claims := fmt.Sprintf(`{"sub":%q,"iat":%d,"exp":%d}`, User, now-1, now+3600)
	return &sarama.AccessToken{Token: part([]byte(`{"alg":"none"}`)) + "." + part([]byte(claims)) + "."}, nil
}

// secureProperties configure the doors.
func secureProperties(keystore string, reauthAfter time.Duration) map[string]string {
	const security, sasl = "org.apache.kafka.common.security.", "listener.name.sasl."
	return map[string]string{
		"ssl.keystore.type":                                     "PEM",
		"ssl.keystore.location":                                 keystore,
		"connections.max.reauth.ms":                             strconv.FormatInt(reauthAfter.Milliseconds(), 10),
		sasl + "sasl.enabled.mechanisms":                        "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
		sasl + "plain.sasl.jaas.config":                         security + `plain.PlainLoginModule required user_` + User + `="` + Password + `";`,
		sasl + "scram-sha-512.sasl.jaas.config":                 security + `scram.ScramLoginModule required;`,
		sasl + "oauthbearer.sasl.jaas.config":                   security + `oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="node";`,
		sasl + "oauthbearer.sasl.server.callback.handler.class": security + `oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler`,
	}
}

// addUser makes the storage tool write the SCRAM user's credentials.
var addUser = []string{"--add-scram", "SCRAM-SHA-512=[name=" + User + ",password=" + Password + "]"}
