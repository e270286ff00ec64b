package consumer

import (
	"encoding/json"
	"time"

	"github.com/evenkeel-go/evenkeel/handler"
	"github.com/evenkeel-go/evenkeel/internal/span"
)

// JSON is for people and dashboards: durations and errors are text, and sets and lists are there even if they are empty.

// MarshalJSON implements json.Marshaler.
func (s Status) MarshalJSON() ([]byte, error) {
	type plain Status
	// Lists are there even if they are empty: who reads them need not ask.
	s.Missing, s.Claims = append([]string{}, s.Missing...), append([]ClaimStatus{}, s.Claims...)
	return json.Marshal(struct {
		plain
		Lease     string `json:"lease"`
		LastError string `json:"last_error,omitempty"`
	}{plain(s), readable(s.Lease), errorText(s.LastError)})
}

// MarshalJSON implements json.Marshaler. That of handler.ClaimStatus would leave Committed out.
func (s ClaimStatus) MarshalJSON() ([]byte, error) {
	type plain handler.ClaimStatus
	return json.Marshal(struct {
		plain
		Age       string `json:"age"`
		Committed int64  `json:"committed"`
	}{plain(s.ClaimStatus), readable(s.Age), s.Committed})
}

// MarshalJSON implements json.Marshaler.
func (e SessionEnd) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind       EndKind `json:"kind"`
		Cause      string  `json:"cause,omitempty"`
		MemberID   string  `json:"member_id"`
		Generation int32   `json:"generation"`
		Lasted     string  `json:"lasted"`
	}{e.Kind, errorText(e.Cause), e.MemberID, e.Generation, readable(e.Lasted)})
}

// MarshalJSON implements json.Marshaler.
func (c Commit) MarshalJSON() ([]byte, error) {
	type plain Commit
	return json.Marshal(struct {
		plain
		Err     string `json:"error,omitempty"`
		Elapsed string `json:"elapsed"`
	}{plain(c), errorText(c.Err), readable(c.Elapsed)})
}

// MarshalJSON implements json.Marshaler. No partitions are an empty set, and never null.
func (p Partitions) MarshalJSON() ([]byte, error) {
	if p == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string][]int32(p))
}

func readable(d time.Duration) string { return span.Text(d.Round(time.Millisecond)) }

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
