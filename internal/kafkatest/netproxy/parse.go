package netproxy

import "encoding/binary"

// parser finds the headers in a stream of Kafka requests: length, API key, version, correlation ID, client ID. It gives up on a
// stream that is none, such as TLS.
type parser struct {
	head  []byte // what is known of the next request's length and header
	skip  int    // bytes of the present request that are still to come
	alien bool
}

const (
	fixedHeader = 4 + 2 + 2 + 4 + 2 // to the length of the client ID
	maxRequest  = 100 << 20         // a broker's default; TLS's first bytes, read as a length, are more
	maxKey      = 1000              // no API key comes near: Kafka counts them up
)

// feed takes the next bytes and calls note for each request whose header they complete.
func (p *parser) feed(b []byte, note func(key int16, clientID string)) {
	for len(b) > 0 && !p.alien {
		if p.skip > 0 {
			n := min(p.skip, len(b))
			p.skip, b = p.skip-n, b[n:]
			continue
		}
		n := min(p.need()-len(p.head), len(b))
		p.head, b = append(p.head, b[:n]...), b[n:]
		if len(p.head) == p.need() {
			p.header(note)
		}
	}
}

// need is how long head has to be for the next step: the fixed part first, then the client ID with it.
func (p *parser) need() int {
	if len(p.head) < fixedHeader {
		return fixedHeader
	}
	return fixedHeader + p.idLength()
}

func (p *parser) idLength() int {
	return max(0, int(int16(binary.BigEndian.Uint16(p.head[fixedHeader-2:])))) // -1 is null
}

// header reads a complete header, or leaves it be if the client ID is still to come.
func (p *parser) header(note func(key int16, clientID string)) {
	length := int(int32(binary.BigEndian.Uint32(p.head)))
	key := int16(binary.BigEndian.Uint16(p.head[4:]))
	p.skip = 4 + length - len(p.head)
	if length > maxRequest || key < 0 || key > maxKey || fixedHeader+p.idLength() > 4+length {
		p.alien = true
		return
	}
	if len(p.head) < p.need() {
		p.skip = 0
		return
	}
	note(key, string(p.head[fixedHeader:]))
	p.head = p.head[:0]
}
