// Package record is what a run of the benchmarks leaves behind: lines of JSON, from which the report is made.
package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Line is one of its fields.
type Line struct {
	Run    *Run    `json:"run,omitempty"`
	Row    *Row    `json:"row,omitempty"`
	Figure *Figure `json:"figure,omitempty"`
	Absent *Absent `json:"absent,omitempty"`
}

// Run says where and how the lines after it were measured.
type Run struct {
	Began    time.Time         `json:"began"`
	Command  string            `json:"command"`
	Commit   string            `json:"commit,omitempty"` // of the repository
	CPU      string            `json:"cpu"`
	Cores    int               `json:"cores"`
	MemoryMB int               `json:"memory_mb,omitempty"`
	OS       string            `json:"os"`
	Load     float64           `json:"load,omitempty"` // how many programs wanted a core in the minute before it began
	Go       string            `json:"go"`
	Java     string            `json:"java,omitempty"`
	Kafka    string            `json:"kafka"`
	Peers    map[string]string `json:"peers,omitempty"` // what a reader has to know of each
	Modules  map[string]string `json:"modules,omitempty"`
}

// Row begins the figures of a row: what it has measured before, by an earlier run, no longer counts.
type Row struct {
	Name  string `json:"name"`
	What  string `json:"what"`
	Peers bool   `json:"peers,omitempty"` // side by side with all peers
}

// Figure compares this library with one peer. Without a peer it stands alone.
type Figure struct {
	Row         string    `json:"row"`
	Name        string    `json:"name"`
	Value       float64   `json:"value"`
	Unit        string    `json:"unit"`
	Samples     []float64 `json:"samples,omitempty"` // what Value is the median of
	Waiting     bool      `json:"waiting,omitempty"` // it had not happened when a round ended, so that a sample is more than it says
	Peer        string    `json:"peer,omitempty"`
	PeerValue   float64   `json:"peer_value,omitempty"`
	PeerSamples []float64 `json:"peer_samples,omitempty"`
	PeerWaiting bool      `json:"peer_waiting,omitempty"`
	Ratio       float64   `json:"ratio,omitempty"`
	More        bool      `json:"more,omitempty"` // more is better
	Missed      []string  `json:"missed,omitempty"`
}

// Absent is a peer that a row has no figures of, or with Peer empty a row that could not be measured.
type Absent struct {
	Row  string `json:"row"`
	Peer string `json:"peer,omitempty"`
	Why  string `json:"why"`
}

// Writer appends lines. The zero value writes nothing.
type Writer struct{ to io.Writer }

// NewWriter writes to w.
func NewWriter(w io.Writer) Writer { return Writer{w} }

// Write appends a line.
func (w Writer) Write(l Line) error {
	if w.to == nil {
		return nil
	}
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = w.to.Write(append(data, '\n'))
	return err
}

const longestLine = 4 << 20

// Parse reads lines.
func Parse(from io.Reader) ([]Line, error) {
	data, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	return parse(data)
}

// Read reads all lines of a file. One that does not exist has none.
func Read(path string) ([]Line, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parse(data)
}

func parse(data []byte) (list []Line, err error) {
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, longestLine)
	for n := 1; scan.Scan(); n++ {
		if len(bytes.TrimSpace(scan.Bytes())) == 0 {
			continue
		}
		var l Line
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		list = append(list, l)
	}
	return list, scan.Err()
}
