import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;
import io.confluent.parallelconsumer.ParallelStreamProcessor;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Runs so many tasks of a topic with the Parallel Consumer, each a sleep or nothing, and prints how many were done, the nanoseconds from
 * the first one's start to the last one's end, and the sum of the nanoseconds that the tasks took. It gives up after the limit, which
 * counts from the first start, and ends when its standard input does.
 */
final class Measure {
    private final long messages;
    private final long millis;
    private final AtomicLong first = new AtomicLong();
    private final AtomicLong done = new AtomicLong();
    private final LongAdder busy = new LongAdder();
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch finished = new CountDownLatch(1);
    private volatile long last;

    private Measure(long messages, long millis) {
        this.messages = messages;
        this.millis = millis;
    }

    /** Arguments: brokers, topic, group, order, slots, milliseconds of a task, messages, limit in seconds. */
    public static void main(String[] args) throws Exception {
        Thread watch = new Thread(Measure::endWithInput);
        watch.setDaemon(true);
        watch.start();
        Measure m = new Measure(Long.parseLong(args[6]), Long.parseLong(args[5]));
        var options = ParallelConsumerOptions.<byte[], byte[]>builder()
            .ordering(ProcessingOrder.valueOf(args[3]))
            .maxConcurrency(Integer.parseInt(args[4]))
            .consumer(new KafkaConsumer<>(properties(args[0], args[2]), new ByteArrayDeserializer(), new ByteArrayDeserializer()))
            .build();
        ParallelStreamProcessor<byte[], byte[]> consumer = ParallelStreamProcessor.createEosStreamProcessor(options);
        consumer.subscribe(List.of(args[1]));
        consumer.poll(context -> m.task());
        m.report(Long.parseLong(args[7]));
        Runtime.getRuntime().halt(0);
    }

    private static Properties properties(String brokers, String group) {
        Properties p = new Properties();
        p.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers);
        p.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        p.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        p.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        return p;
    }

    private void task() {
        long begin = System.nanoTime();
        if (first.get() == 0 && first.compareAndSet(0, begin)) {
            started.countDown();
        }
        if (millis > 0) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
        long end = System.nanoTime();
        busy.add(end - begin);
        if (done.incrementAndGet() == messages) {
            last = end;
            finished.countDown();
        }
    }

    private void report(long limit) throws InterruptedException {
        if (!started.await(60, TimeUnit.SECONDS)) {
            System.err.println("no task has started");
            Runtime.getRuntime().halt(1);
        }
        boolean all = finished.await(limit, TimeUnit.SECONDS);
        long end = all ? last : System.nanoTime();
        System.out.printf("%d %d %d%n", Math.min(done.get(), messages), end - first.get(), busy.sum());
        System.out.flush();
    }

    private static void endWithInput() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (java.io.IOException e) {
            // the end as well
        }
        Runtime.getRuntime().halt(1);
    }
}
