package kafkatest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Brokers listen below the range that the system takes source ports from. In it, a client that dials a port whose broker
// is down can be given that very port as its source: it then connects to itself, and the broker cannot have the port back.
const lowestPort, highestPort = 15000, 31999

// ports are ports of 127.0.0.1 that are kept for one node, also while nobody listens on them: before its process has come up, while
// it is down, while a proxy refuses connections. Nothing but a listener tells other test binaries on the machine of it. So only even
// ports are handed out, and each is spoken for by whoever listens on the odd one after it.
type ports struct {
	numbers []int
	keepers []net.Listener
}

// keepPorts finds n ports that nobody keeps or listens on now, and keeps them.
func keepPorts(n int) (*ports, error) {
	p := &ports{}
	for range 100 * n {
		if len(p.numbers) == n {
			return p, nil
		}
		p.tryOne(lowestPort + 2*rand.IntN((highestPort-lowestPort+1)/2))
	}
	return nil, errors.Join(fmt.Errorf("found no %d free ports on 127.0.0.1 between %d and %d", n, lowestPort, highestPort), p.close())
}

func (p *ports) tryOne(port int) {
	keeper, err := net.Listen("tcp", loopback(port+1))
	if err != nil {
		return
	}
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		keeper.Close()
		return
	}
	l.Close()
	p.numbers, p.keepers = append(p.numbers, port), append(p.keepers, keeper)
}

// close lets others have the ports.
func (p *ports) close() error {
	var errs []error
	for _, l := range p.keepers {
		errs = append(errs, l.Close())
	}
	p.keepers = nil
	return errors.Join(errs...)
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
