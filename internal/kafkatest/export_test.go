package kafkatest

// NeedKafka opens needKafka to the tests.
var NeedKafka = needKafka
