package kafkatest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The Kafka versions that tests run against.
const (
	Newest = "4.4.0"
	Oldest = "3.9.2" // the oldest line that is still in wide use
)

// Options say how a real Kafka is started. The zero value is the newest version as a test wants it.
type Options struct {
	// Version of Apache Kafka. Default: [Newest].
	Version string
	// Properties of the broker, over ours. Ours create five offsets partitions, start a group's first rebalance at once,
	// accept session timeouts from 1 s, and create no topic by itself.
	Properties map[string]string
	// Links are the names of the ways to the brokers that a test can break, see [Link]. Give each client its own.
	Links []string
	// Secure adds the listeners behind [Node.Through]: TLS, and SASL inside TLS.
	Secure bool
	// ReauthAfter is connections.max.reauth.ms of the SASL listener: a connection whose client has not authenticated again by then
	// is closed at its next request. 0 means never. Take 2 s or more: clients are early by up to 15 %, and a broker refuses to
	// authenticate a connection again within one second (ILLEGAL_SASL_STATE).
	ReauthAfter time.Duration
}

func (o Options) version() string { return cmp.Or(o.Version, Newest) }

// nodeIDs start at 1, as in most clusters: 0 hides a field that was never set.
const firstNodeID = 1

// listener is one of a node's addresses.
type listener struct {
	name       string
	protocol   string // PLAINTEXT, SSL, SASL_SSL
	port       int    // where the node listens
	advertised int    // where clients are told to connect
}

const (
	controllerListener = "CONTROLLER" // between nodes only
	plainListener      = "PLAIN"      // for clients and between brokers
)

// baseProperties are those of every node.
func baseProperties(nodes int) map[string]string {
	replicas := strconv.Itoa(nodes)
	inSync := strconv.Itoa(nodes/2 + 1)
	return map[string]string{
		"process.roles":                            "broker,controller",
		"controller.listener.names":                controllerListener,
		"inter.broker.listener.name":               plainListener,
		"default.replication.factor":               replicas,
		"min.insync.replicas":                      inSync,
		"offsets.topic.replication.factor":         replicas,
		"offsets.topic.num.partitions":             "5", // 50 are slow to create
		"transaction.state.log.replication.factor": replicas,
		"transaction.state.log.min.isr":            inSync,
		"transaction.state.log.num.partitions":     "5",
		"group.initial.rebalance.delay.ms":         "0",
		"group.min.session.timeout.ms":             "1000",
		"auto.create.topics.enable":                "false",
		"broker.session.timeout.ms":                "3000",
		"broker.heartbeat.interval.ms":             "500",
		"num.network.threads":                      "2",
		"num.io.threads":                           "4",
		"log.cleaner.dedupe.buffer.size":           "4194304", // 128 MB of the heap otherwise
	}
}

// listenerProperties are the addresses of one node.
func listenerProperties(listeners []listener) map[string]string {
	var at, advertised, protocols []string
	for _, l := range listeners {
		at = append(at, l.name+"://"+loopback(l.port))
		protocols = append(protocols, l.name+":"+l.protocol)
		if l.name != controllerListener {
			advertised = append(advertised, l.name+"://"+loopback(l.advertised))
		}
	}
	return map[string]string{
		"listeners":                      strings.Join(at, ","),
		"advertised.listeners":           strings.Join(advertised, ","),
		"listener.security.protocol.map": strings.Join(protocols, ","),
	}
}

// propertiesFile joins property sets, later ones winning, in the form that Kafka reads.
func propertiesFile(sets ...map[string]string) []byte {
	all := map[string]string{}
	for _, set := range sets {
		maps.Copy(all, set)
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		value := strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(all[key])
		fmt.Fprintf(&b, "%s=%s\n", key, value)
	}
	return []byte(b.String())
}
