import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;
import io.confluent.parallelconsumer.ParallelStreamProcessor;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Is one member of a group, or several, with the Parallel Consumer, and prints a line for each start and end of a task, with the
 * nanoseconds since 1970. A line on its standard input asks for its memory and threads; when the input ends it stops in order.
 */
final class Member {
    private static final PrintStream OUT = new PrintStream(System.out, true);
    private final long micros;
    private final long step;

    private Member(long micros, long step) {
        this.micros = micros;
        this.step = step;
    }

    /**
     * Arguments: brokers, topic, group, order, slots, microseconds of a task on partition 0, and how many more on each next one, session
     * timeout in milliseconds or 0, members, milliseconds for which a stop waits for tasks or 0.
     */
    public static void main(String[] args) throws Exception {
        Member m = new Member(Long.parseLong(args[5]), Long.parseLong(args[6]));
        OUT.printf("ready %d%n", now());
        List<ParallelStreamProcessor<byte[], byte[]>> all = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[8]); i++) {
            var builder = ParallelConsumerOptions.<byte[], byte[]>builder()
                .ordering(ProcessingOrder.valueOf(args[3]))
                .maxConcurrency(Integer.parseInt(args[4]))
                .consumer(new KafkaConsumer<>(properties(args), new ByteArrayDeserializer(), new ByteArrayDeserializer()));
            long grace = Long.parseLong(args[9]);
            if (grace > 0) {
                builder.shutdownTimeout(Duration.ofMillis(grace));
            }
            ParallelStreamProcessor<byte[], byte[]> one = ParallelStreamProcessor.createEosStreamProcessor(builder.build());
            one.subscribe(List.of(args[1]));
            one.poll(context -> m.task(context.getSingleConsumerRecord()));
            all.add(one);
        }
        answer();
        all.parallelStream().forEach(ParallelStreamProcessor::close);
        Runtime.getRuntime().halt(0);
    }

    private static Properties properties(String[] args) {
        Properties p = new Properties();
        p.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, args[0]);
        p.put(ConsumerConfig.GROUP_ID_CONFIG, args[2]);
        p.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        p.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        p.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
        int session = Integer.parseInt(args[7]);
        if (session > 0) {
            p.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, session);
            p.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, session / 3);
        }
        return p;
    }

    private void task(ConsumerRecord<byte[], byte[]> r) {
        tell("start", r);
        try {
            long each = micros + step * r.partition();
            Thread.sleep(each / 1000, (int) (each % 1000) * 1000);
        } catch (InterruptedException e) {
            tell("cut", r);
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        tell("end", r);
    }

    private static void tell(String what, ConsumerRecord<byte[], byte[]> r) {
        OUT.println(what + " " + r.partition() + " " + r.offset() + " " + now());
    }

    private static long now() {
        Instant at = Instant.now();
        return at.getEpochSecond() * 1_000_000_000L + at.getNano();
    }

    private static void answer() throws java.io.IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            System.gc();
            long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            OUT.printf("state %d %d%n", heap, ManagementFactory.getThreadMXBean().getThreadCount());
        }
    }
}
