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

// A hook can write an assignment as it is. Sets are never null.
func TestRebalanceAsJSON(t *testing.T) {
	r := consumer.Rebalance{
		Generation: 4, Strategy: "evenkeel", Gained: consumer.Partitions{"reports": {2}}, Assigned: consumer.Partitions{"reports": {0, 2}},
		Holding: []handler.Holding{{
			Claim: handler.Claim{Topic: "reports"}, Task: handler.RunningTask{Offset: 7, Attempt: 1, Age: 90 * time.Second},
		}},
		WastedSeconds: 2.5,
	}
	wantJSON(t, r, `{"generation":4,"strategy":"evenkeel","gained":{"reports":[2]},"lost":{},"assigned":{"reports":[0,2]},`+
		`"holding":[{"topic":"reports","partition":0,"task":{"offset":7,"attempt":1,"age":"1m30s"}}],"wasted_task_seconds":2.5}`)
	wantJSON(t, consumer.Rebalance{}, `{"generation":0,"strategy":"","gained":{},"lost":{},"assigned":{},"wasted_task_seconds":0}`)
}

func TestCommitAsJSON(t *testing.T) {
	c := consumer.Commit{Topic: "reports", Partition: 1, Offset: 8, Err: errors.New("no answer"), Retrying: true, Elapsed: 1500 * time.Millisecond}
	wantJSON(t, c, `{"topic":"reports","partition":1,"offset":8,"retrying":true,"dropped":false,"error":"no answer","elapsed":"1.5s"}`)
	wantJSON(t, consumer.Commit{Topic: "reports"},
		`{"topic":"reports","partition":0,"offset":0,"retrying":false,"dropped":false,"elapsed":"0s"}`)
}

func TestGroupPlanAsJSON(t *testing.T) {
	p := consumer.GroupPlan{
		Members: map[string]consumer.Share{"m-1": {Assigned: consumer.Partitions{"reports": {0}}, HandOver: consumer.Partitions{"reports": {0}}}},
		Moved:   []consumer.Move{{Topic: "reports", Partition: 1, From: "m-1", To: "m-2"}},
	}
	wantJSON(t, p, `{"members":{"m-1":{"assigned":{"reports":[0]},"hand_over":{"reports":[0]},"stop":{}}},`+
		`"moved":[{"topic":"reports","partition":1,"from":"m-1","to":"m-2"}],"unserved":{}}`)
}

func wantJSON(t *testing.T, v any, want string) {
	t.Helper()
	got, err := json.Marshal(v)
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s, want\n%s", err, strings.ReplaceAll(string(got), `,"`, ",\n\""), want)
	}
}
