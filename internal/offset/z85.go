package offset

import "encoding/binary"

// z85 is the alphabet of ZeroMQ's RFC 32. 85 to the fifth is a little more than 2 to the 32nd: 5 characters for 4 bytes.
const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// z85Len returns how many characters so many bytes become.
func z85Len(size int) int {
	if rest := size % 4; rest > 0 {
		return size/4*5 + rest + 1
	}
	return size / 4 * 5
}

// z85Room returns how many bytes so many characters can have.
func z85Room(chars int) int { return chars/5*4 + max(0, chars%5-1) }

func appendZ85(dst, b []byte) []byte {
	for ; len(b) >= 4; b = b[4:] {
		dst = appendDigits(dst, binary.BigEndian.Uint32(b), 5)
	}
	if len(b) == 0 {
		return dst
	}
	v := uint32(0)
	for _, c := range b {
		v = v<<8 | uint32(c)
	}
	return appendDigits(dst, v, len(b)+1)
}

func appendDigits(dst []byte, v uint32, n int) []byte {
	var digits [5]byte
	for i := n - 1; i >= 0; i-- {
		digits[i] = z85[v%85]
		v /= 85
	}
	return append(dst, digits[:n]...)
}

// parseZ85 returns false for what appendZ85 never writes.
func parseZ85(s string) ([]byte, bool) {
	values := z85Values()
	b := make([]byte, 0, len(s)/5*4+4)
	for len(s) > 0 {
		n := min(5, len(s))
		v, ok := parseDigits(&values, s[:n])
		if !ok || n == 1 || v >= 1<<(8*(n-1)) {
			return nil, false
		}
		for i := n - 2; i >= 0; i-- {
			b = append(b, byte(v>>(8*i)&0xff))
		}
		s = s[n:]
	}
	return b, true
}

// notADigit marks the bytes that are not of the alphabet.
const notADigit = 0xff

func z85Values() (values [256]byte) {
	for i := range values {
		values[i] = notADigit
	}
	for i := range len(z85) {
		values[z85[i]] = byte(i)
	}
	return values
}

func parseDigits(values *[256]byte, s string) (v uint64, ok bool) {
	for i := range len(s) {
		d := values[s[i]]
		if d == notADigit {
			return 0, false
		}
		v = v*85 + uint64(d)
	}
	return v, true
}
