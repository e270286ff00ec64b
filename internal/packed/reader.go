// Package packed reads numbers and pieces of bytes from the front of data that others have written, and may have damaged. It is pure.
package packed

import (
	"encoding/binary"
	"math"
)

// Reader reads from the front. It turns bad when there is too little, and gives zeros from then on.
type Reader struct {
	In  []byte // what is left
	Bad bool
}

// Uvarint reads a number as encoding/binary writes it, below 2^63.
func (r *Reader) Uvarint() int64 {
	v, n := binary.Uvarint(r.In)
	if n <= 0 || v > math.MaxInt64 {
		r.Bad, r.In = true, nil
		return 0
	}
	r.In = r.In[n:]
	return int64(v)
}

// Next reads n bytes, nil where there are fewer.
func (r *Reader) Next(n int64) []byte {
	if n > int64(len(r.In)) {
		r.Bad, r.In = true, nil
		return nil
	}
	b := r.In[:n:n]
	r.In = r.In[n:]
	return b
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if b := r.Next(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint64 reads eight bytes, big endian.
func (r *Reader) Uint64() uint64 {
	if b := r.Next(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}
