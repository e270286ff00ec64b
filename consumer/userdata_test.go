package consumer_test

import (
	"testing"

	"github.com/IBM/sarama"

	"github.com/evenkeel-go/evenkeel/config"
	"github.com/evenkeel-go/evenkeel/consumer"
)

// A group goes back to sticky: what our own leader has said last is none of its business, for it cannot read it.
func TestAStrategyOfferedBesideOursSaysItsOwn(t *testing.T) {
	conf := sarama.NewConfig()
	conf.Consumer.Group.Member.UserData = []byte("static")
	c := newConsumer(t, func(cfg *consumer.Config) {
		p, err := config.Input{Expected: plan(t).Input.Expected, Eager: true}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Plan, cfg.OfferAlso = p, []sarama.BalanceStrategy{sarama.NewBalanceStrategySticky()}
	})
	other := c.Offered(conf)[1]
	says := func(want string) {
		t.Helper()
		speaker, ok := other.(sarama.SubscriptionUserDataBalanceStrategy)
		if !ok {
			t.Fatal("it says what sarama gives it")
		}
		if got, err := speaker.SubscriptionUserData(nil); err != nil || string(got) != want {
			t.Errorf("it says %q, %v, want %q", got, err, want)
		}
	}
	says("static")
	hears := other.(sarama.OnAssignmentBalanceStrategy)
	hears.OnAssignment(&sarama.ConsumerGroupMemberAssignment{UserData: []byte("sticky's")}, 1)
	says("sticky's")
	hears.OnAssignment(&sarama.ConsumerGroupMemberAssignment{}, 2)
	says("static")
	if other.Name() != "sticky" || !config.Supports(other, sarama.RebalanceProtocolEager) {
		t.Error("it is another strategy")
	}
}

func TestAStrategyThatSpeaksIsLeftAlone(t *testing.T) {
	also := sticky()
	c := newConsumer(t, func(cfg *consumer.Config) { cfg.OfferAlso = []sarama.BalanceStrategy{also} })
	if other := c.Offered(sarama.NewConfig())[1]; other != also {
		t.Errorf("offered %T", other)
	}
}
