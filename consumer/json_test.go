package consumer_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-go/evenkeel/consumer"
	"github.com/evenkeel-go/evenkeel/handler"
)

// A snapshot can be served as it is: errors and durations are text, and nothing of it is lost in the embedded structs.
func TestStatusAsJSON(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s := consumer.Status{
		State: consumer.StateMember, Since: at, MemberID: "m-1", Generation: 3, Rebalances: 2,
		Assigned: consumer.Partitions{"reports": {0, 1}}, Missing: []string{"bills"}, Lease: 35*time.Second + time.Microsecond,
		LastEnd:   &consumer.SessionEnd{Kind: consumer.EndLost, Cause: errors.New("no answer"), MemberID: "m-0", Generation: 1, Lasted: time.Minute},
		LastError: errors.New("topic bills: no such topic"), LastErrAt: at,
		Claims: []consumer.ClaimStatus{{
			ClaimStatus: handler.ClaimStatus{
				Claim: handler.Claim{Topic: "reports", Partition: 1}, Age: time.Hour, Finished: 7, Lag: 3,
				Tasks: []handler.RunningTask{{Offset: 7, Attempt: 2, Age: 90 * time.Second}},
			},
			Committed: 6,
		}},
		Counts: handler.Counts{Started: 9, Failed: 1}, Running: 1,
	}
	want := `{"state":"member","since":"2030-01-02T03:04:05Z","member_id":"m-1","generation":3,"rebalances":2,` +
		`"assigned":{"reports":[0,1]},"missing":["bills"],` +
		`"last_end":{"kind":"membership lost","cause":"no answer","member_id":"m-0","generation":1,"lasted":"1m"},` +
		`"last_error_at":"2030-01-02T03:04:05Z",` +
		`"claims":[{"topic":"reports","partition":1,"backlog":0,"bytes":0,"paused":false,"finished":7,"lag":3,"retrying":false,` +
		`"blocked":false,"handing_over":false,"tasks":[{"offset":7,"attempt":2,"age":"1m30s"}],"age":"1h","committed":6}],` +
		`"started":9,"succeeded":0,"failed":1,"panicked":0,"cancelled":0,"strays":0,"abandoned":0,"wasted_task_seconds":0,"running":1,"stray":0,"kept":0,` +
		`"lease":"35s","last_error":"topic bills: no such topic"}`
	wantJSON(t, s, want)
}

func TestStatusAsJSONBeforeRun(t *testing.T) {
	c, err := consumer.New(sound(t), nothing)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, c.Status(), `{"state":"new","generation":0,"rebalances":0,"assigned":{},"missing":[],"claims":[],`+
		`"started":0,"succeeded":0,"failed":0,"panicked":0,"cancelled":0,"strays":0,"abandoned":0,"wasted_task_seconds":0,"running":0,"stray":0,"kept":0,"lease":"0s"}`)
}

func wantJSON(t *testing.T, v any, want string) {
	t.Helper()
	got, err := json.Marshal(v)
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s, want\n%s", err, strings.ReplaceAll(string(got), `,"`, ",\n\""), want)
	}
}
