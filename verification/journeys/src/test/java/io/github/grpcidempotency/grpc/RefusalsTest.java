package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.spi.FailurePhase.NOTHING_SENT;
import static io.github.grpcidempotency.spi.FailurePhase.ROW_SEEN;
import static io.github.grpcidempotency.store.FailureCause.NO_CONNECTION;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.grpc.internal.WireMetadata;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.grpc.Status;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RefusalsTest extends CallTest {
  private static final String EXPECTS_A_UUID =
      "; expected a UUID: 36 characters, hexadecimal digits in groups of 8-4-4-4-12";

  @ParameterizedTest
  @CsvSource({
    "'', EMPTY, it is empty",
    "not-a-uuid, FORMAT, it has 10 characters",
    "0193a0c47e5b7cc19d6eaabbccddeeff, FORMAT, it has 32 characters",
    "0193a0c4_7e5b-7cc1-9d6e-aabbccddeeff, FORMAT, it has 36 characters"
  })
  void aMalformedKeyIsRefusedWithWhatIsWrongAndWhatIsExpected(
      String key, KeyProblem problem, String wrong) {
    ThingServer server = start();

    Seen refused = call(server, "a thing").as(ALICE).key(key).end();

    assertInvalidKey(refused, problem, wrong + EXPECTS_A_UUID);
    assertThat(key.isEmpty() || !refused.text().contains(key)).isTrue();
    assertThat(server.things().runs()).isZero();
  }

  @Test
  void aRefusedKeyHasTheNameOfItsHeader() {
    ThingServer server =
        start(
            server()
                .createThing(
                    procedure ->
                        procedure.keyFrom(
                            KeySource.metadata("x-request-id").as(KeyFormat.uuid()))));

    Seen refused =
        call(server, "a thing").as(ALICE).header(WireMetadata.ascii("x-request-id"), "?").end();

    assertThat(refused.status().getDescription()).startsWith("x-request-id ");
    assertThat(refused.detail(BadRequest.class).orElseThrow().getFieldViolations(0).getField())
        .isEqualTo("x-request-id");
  }

  @Test
  void anotherRequestWithTheKeyIsRefusedWhileTheFirstRuns() throws InterruptedException {
    ThingServer server = start();
    ThingServer other = start();
    TestCall.Started first = keepOneRunning(server);
    ThingService.Running running = server.things().nextRunning();

    assertReused(call(server, "another thing").as(ALICE).key(KEY).end(), "request");
    assertReused(call(other, "another thing").as(ALICE).key(KEY).end(), "request");

    running.succeed();
    first.end().first();
    assertThat(server.things().runs() + other.things().runs()).isEqualTo(1);
  }

  @Test
  void anotherProcedureWithTheKeyIsRefusedOnceTheFirstIsDone() {
    ThingServer server = start(server().describeOther());
    keyed(server).end().first();

    assertReused(keyed(server).to(ThingServer.CREATE_OTHER).end(), "procedure");
  }

  @Test
  void aDuplicateOfARunningCallGetsARetryDelay() throws InterruptedException {
    ThingServer server = start();
    ThingServer other = start();
    TestCall.Started first = keepOneRunning(server);
    ThingService.Running running = server.things().nextRunning();

    assertInProgress(keyed(server).end());
    assertInProgress(keyed(other).end());

    running.succeed();
    keyed(other).end().replays(first.end().first());
  }

  @Test
  void noRefusalRepeatsWhatTheClientSent() {
    ThingServer server = start();
    keyed(server).end().first();

    Seen other = call(server, "a secret thing").as(ALICE).key(KEY).end();
    String reused = other.text();
    String malformed = call(server, "a secret thing").as(ALICE).key("a-secret-key").end().text();

    assertReused(other, "request");
    assertThat(reused).doesNotContain(KEY, "secret", ALICE.toString());
    assertThat(malformed).doesNotContain("secret", ALICE.toString());
  }

  // Outages

  @Test
  void failingClosedACallIsRefusedWhileTheStoreIsOut() {
    ThingServer server =
        start(server().createThing(procedure -> procedure.outage(OutagePolicy.FAIL_CLOSED)));
    store.failClaims(NOTHING_SENT, NO_CONNECTION);

    Seen refused = keyed(server).end();

    refused.refused(Status.Code.UNAVAILABLE, "IDEMPOTENCY_STORE_UNAVAILABLE");
    assertThat(refused.retryAfter())
        .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(1).plusMillis(500));
    assertThat(refused.detail(ErrorInfo.class).orElseThrow().getMetadataMap())
        .containsExactly(Map.entry("cause", "no_connection"));
    assertThat(server.things().runs()).isZero();
    store.recover();
    keyed(server).end().first();
  }

  @Test
  void aCallThatIsRefusedBecauseItsServerStopsIsNotServedUnguardedAfterwards() throws Exception {
    CountDownLatch claiming = new CountDownLatch(1);
    CountDownLatch refused = new CountDownLatch(1);
    CountDownLatch served = new CountDownLatch(1);
    store.failClaims(NOTHING_SENT, NO_CONNECTION);
    store.beforeClaims(
        () -> {
          claiming.countDown();
          Uninterruptibles.awaitUninterruptibly(refused);
        });
    ThingServer server = start(server().outside(AfterCallback.halfClose(served::countDown)));
    CompletableFuture<Seen> call = CompletableFuture.supplyAsync(() -> keyed(server).end());
    claiming.await();

    server.drain(Duration.ofMillis(1));

    refused.countDown();
    call.join().refused(Status.Code.UNAVAILABLE, "IDEMPOTENCY_SHUTTING_DOWN");
    served.await();
    assertThat(server.things().runs()).isZero();
  }

  @Test
  void failingOpenACallIsServedUnguardedWhileTheStoreIsOut() {
    ThingServer server = start();
    store.failClaims(NOTHING_SENT, NO_CONNECTION);

    keyed(server).end().untouched();
    keyed(server).end().untouched();

    assertThat(server.things().runs()).isEqualTo(2);
    store.recover();
    Seen first = keyed(server).end().first();
    keyed(server).end().replays(first);
  }

  @Test
  void duplicatesGetDifferentRetryDelays() {
    ThingServer server = start();
    store.failClaims(ROW_SEEN, NO_CONNECTION);

    assertThat(IntStream.range(0, 20).mapToObj(i -> keyed(server).end().retryAfter()).distinct())
        .hasSizeGreaterThan(5);
  }

  @Test
  void evenWithTheStoreOutADuplicateOfARunningCallIsNotServed() throws InterruptedException {
    ThingServer server = start();
    TestCall.Started first = keepOneRunning(server);
    ThingService.Running running = server.things().nextRunning();
    store.failClaims(NOTHING_SENT, NO_CONNECTION);

    assertInProgress(keyed(server).end());

    store.recover();
    running.succeed();
    first.end().first();
  }

  private static void assertInvalidKey(Seen seen, KeyProblem problem, String explanation) {
    seen.refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_INVALID").forGood();
    assertThat(seen.text()).contains("idempotency-key is malformed: " + explanation);
    assertThat(seen.detail(ErrorInfo.class).orElseThrow().getMetadataMap())
        .containsExactly(Map.entry("problem", problem.name().toLowerCase(Locale.ROOT)));
    assertThat(seen.detail(BadRequest.class).orElseThrow().getFieldViolationsList())
        .singleElement()
        .satisfies(
            violation -> {
              assertThat(violation.getField()).isEqualTo("idempotency-key");
              assertThat(violation.getDescription()).isEqualTo(explanation);
            });
  }

  private static void assertReused(Seen seen, String mismatch) {
    seen.refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED").forGood();
    assertThat(seen.detail(ErrorInfo.class).orElseThrow().getMetadataMap())
        .containsExactly(Map.entry("mismatch", mismatch));
  }

  private static void assertInProgress(Seen seen) {
    seen.refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    assertThat(seen.retryAfter()).isBetween(Duration.ofMillis(50), Duration.ofMillis(500));
  }
}
