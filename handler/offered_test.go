package handler_test

import (
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/handler"
)

// offered is what a handler makes of a list, and what it logs about it.
func offered(t *testing.T, list func(h *handler.GroupHandler) []sarama.BalanceStrategy) ([]sarama.BalanceStrategy, *logBook) {
	t.Helper()
	logs := &logBook{}
	o := options(t)
	o.Logger = logs.logger()
	h, err := handler.New(handler.Func(nothing), o)
	if err != nil {
		t.Fatal(err)
	}
	return h.BalanceStrategies(list(h)...), logs
}

// What sarama would fall over, or never use, is left out and told.
func TestStrategiesThatAreNoneAreLeftOut(t *testing.T) {
	got, logs := offered(t, func(*handler.GroupHandler) []sarama.BalanceStrategy {
		var none *sticky
		return []sarama.BalanceStrategy{nil, sarama.NewBalanceStrategySticky(), none, sarama.NewBalanceStrategySticky()}
	})
	if len(got) != 1 || got[0].Name() != sarama.StickyBalanceStrategyName {
		t.Errorf("offered %v", got)
	}
	for argument, text := range map[string]string{"argument=1": "is nil", "argument=3": "is nil", "argument=4": "is there already"} {
		if len(logs.with("level=ERROR", argument, text)) != 1 {
			t.Errorf("%s is not told: %q", argument, logs.with("level="))
		}
	}
}

type sticky struct{ sarama.BalanceStrategy }

func TestAListWithoutAStrategyIsOurs(t *testing.T) {
	got, _ := offered(t, func(*handler.GroupHandler) []sarama.BalanceStrategy { return []sarama.BalanceStrategy{nil} })
	if len(got) != 1 || got[0].Name() != "evenkeel" {
		t.Errorf("offered %v", got)
	}
}

// Beside ours a strategy says its own: it could not read what ours has said.
func TestBesideOursAStrategySaysItsOwn(t *testing.T) {
	for name, beside := range map[string]bool{"beside ours": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			got, _ := offered(t, func(h *handler.GroupHandler) []sarama.BalanceStrategy {
				list := []sarama.BalanceStrategy{sarama.NewBalanceStrategySticky()}
				if beside {
					list = append(list, h.WorkPreserving())
				}
				return list
			})
			speaker, speaks := got[0].(sarama.SubscriptionUserDataBalanceStrategy)
			if speaks != beside {
				t.Fatalf("speaks: %v", speaks)
			}
			if !beside {
				return
			}
			got[0].(sarama.OnAssignmentBalanceStrategy).OnAssignment(&sarama.ConsumerGroupMemberAssignment{UserData: []byte("sticky's")}, 1)
			if said, err := speaker.SubscriptionUserData(nil); err != nil || string(said) != "sticky's" {
				t.Errorf("says %q, %v", said, err)
			}
		})
	}
}
