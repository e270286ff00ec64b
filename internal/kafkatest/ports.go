package kafkatest

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Brokers listen below the range that the system takes source ports from. In it, a client that dials a port whose broker
// is down can be given that very port as its source: it then connects to itself, and the broker cannot have the port back.
const lowestPort, highestPort = 15000, 31999

// freePorts finds n ports of 127.0.0.1 that nobody listens on now.
func freePorts(n int) ([]int, error) {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	ports := make([]int, 0, n)
	for range 100 * n {
		if len(ports) == n {
			return ports, nil
		}
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		if l, err := net.Listen("tcp", loopback(port)); err == nil {
			held, ports = append(held, l), append(ports, port)
		}
	}
	return nil, fmt.Errorf("found no %d free ports on 127.0.0.1 between %d and %d", n, lowestPort, highestPort)
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
