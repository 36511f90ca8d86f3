package io.github.grpcidempotency.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A real server, its real events, and the meters that they move. */
class ServedCallsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final CreateThingRequest REQUEST = request("one");

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final IdempotencyMetrics metrics = IdempotencyMetrics.builder(registry).build();
  private final InMemoryIdempotencyStore store = new InMemoryIdempotencyStore(LEASE);
  private final ThingServer server =
      ThingServer.on(Transport.LOOPBACK)
          .store(store)
          .listener(metrics)
          .createThing(thing -> thing.attach(LONG))
          .describeOther()
          .withoutResource()
          .start();
  private final ThingClient client = ThingClient.on(server.channel());

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void aFirstCallIsClaimedRunAndSettled() {
    assertThat(client.createThing(REQUEST).isOk()).isTrue();

    assertThat(count(MetricName.KEYS_FOUND, "source", "idempotency-key")).isEqualTo(1);
    assertThat(count(MetricName.CLAIMS, "result", "won")).isEqualTo(1);
    assertThat(count(MetricName.HANDLERS)).isEqualTo(1);
    assertThat(count(MetricName.SETTLEMENTS, "settlement", "complete")).isEqualTo(1);
    assertThat(count(MetricName.REPLAYS)).isZero();
    assertThat(count(MetricName.TAKEOVERS)).isZero();
  }

  @Test
  void gaugesShowWhatRunsAndWaits() throws InterruptedException {
    server.things().keepRunning();
    CompletableFuture<Reply> first = client.startThing(REQUEST);
    await().untilAsserted(() -> assertThat(gauge(MetricName.LEASES_HELD)).isEqualTo(1));
    List<CompletableFuture<Reply>> duplicates =
        Stream.generate(() -> client.startThing(REQUEST)).limit(3).toList();
    await().untilAsserted(() -> assertThat(gauge(MetricName.CALLS_WAITING)).isEqualTo(3));

    server.things().nextRunning().succeed();

    assertThat(first.join().isOk()).isTrue();
    assertThat(duplicates).allMatch(duplicate -> duplicate.join().isReplay());
    await().untilAsserted(() -> assertThat(gauge(MetricName.LEASES_HELD)).isZero());
    assertThat(gauge(MetricName.CALLS_WAITING)).isZero();
    assertThat(count(MetricName.WAITS, "end", "answered")).isEqualTo(3);
  }

  private static CreateThingRequest request(String name) {
    return CreateThingRequest.newBuilder().setName(name).build();
  }

  /** Adds up the counters or timers that have these tags. */
  private double count(MetricName name, String... tags) {
    return registry.find(name.meter()).tags(tags).meters().stream()
        .mapToDouble(
            meter ->
                name.kind() == MetricName.Kind.TIMER
                    ? ((Timer) meter).count()
                    : ((Counter) meter).count())
        .sum();
  }

  private double gauge(MetricName name) {
    return registry.get(name.meter()).gauge().value();
  }
}
