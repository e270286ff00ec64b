package link

import (
	"context"
	"net"
	"strings"

	"github.com/IBM/sarama"
)

// canonical replaces the names of addrs by the canonical ones where the configuration asks for it, as sarama does: Kerberos knows a
// broker by that name alone.
func canonical(ctx context.Context, addrs []string, conf *sarama.Config) ([]string, error) {
	if !conf.Net.ResolveCanonicalBootstrapServers {
		return addrs, nil
	}
	var all []string
	for _, addr := range addrs {
		named, err := canonicalOf(ctx, addr)
		if err != nil {
			return nil, err
		}
		all = append(all, named...)
	}
	return all, nil
}

func canonicalOf(ctx context.Context, addr string) ([]string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, ip := range ips {
		names, err := net.DefaultResolver.LookupAddr(ctx, ip)
		if err != nil {
			return nil, err
		}
		all = append(all, net.JoinHostPort(strings.TrimSuffix(names[0], "."), port))
	}
	return all, nil
}
