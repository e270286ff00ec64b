package kafkatest

// NeedKafka opens needKafka to the tests.
var NeedKafka = needKafka

// Loopback opens loopback to the tests.
var Loopback = loopback

// KeepPorts opens keepPorts to the tests.
func KeepPorts(n int) (numbers []int, giveBack func() error, err error) {
	p, err := keepPorts(n)
	if err != nil {
		return nil, nil, err
	}
	return p.numbers, p.close, nil
}

// CanKeep says whether a port could be kept now.
func CanKeep(port int) bool {
	p := &ports{}
	defer p.close()
	p.tryOne(port)
	return len(p.numbers) == 1
}
