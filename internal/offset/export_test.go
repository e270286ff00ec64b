package offset

// Seal writes the text of any body: what comes after the checksum.
func Seal(body []byte) string {
	w := writer{out: append(make([]byte, 4), body...)}
	return w.text()
}
