package kit

import "github.com/IBM/sarama"

// Transact sends two messages to a topic of one partition in a transaction, and ends it. Its mark takes an offset too.
func (g *Group) Transact(end func(sarama.SyncProducer) error) {
	g.t.Helper()
	conf := g.Broker.Config()
	conf.Producer.Idempotent, conf.Producer.RequiredAcks, conf.Producer.Return.Successes = true, sarama.WaitForAll, true
	conf.Producer.Transaction.ID, conf.Net.MaxOpenRequests = g.Name, 1
	producer, err := sarama.NewSyncProducer(g.Broker.Addrs(), conf)
	g.must(err)
	defer producer.Close()
	g.must(producer.BeginTxn())
	g.must(producer.SendMessages([]*sarama.ProducerMessage{{Topic: g.Topic}, {Topic: g.Topic}}))
	g.must(end(producer))
}
