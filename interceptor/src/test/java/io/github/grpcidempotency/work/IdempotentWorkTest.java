package io.github.grpcidempotency.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.StringValue;
import com.google.rpc.Code;
import io.github.grpcidempotency.decision.Refusal;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.ScheduleKey;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class IdempotentWorkTest {
  private static final Caller SYSTEM = Caller.of(new UUID(0, 1));
  private static final String RUN =
      ScheduleKey.of("close-month", Instant.parse("2026-12-01T00:00:00Z"));
  private static final StringValue MONTH = StringValue.of("2026-11");
  private static final Procedure CLOSE_MONTH =
      Procedure.named("jobs/close-month")
          .inFlight(InFlightPolicy.attach(Duration.ofSeconds(10)))
          .failures(FailurePolicy.releaseAll().withTerminal(Code.FAILED_PRECONDITION))
          .build();

  private final IdempotentWork work =
      IdempotentWork.on(new InMemoryIdempotencyStore(), CLOSE_MONTH);
  private final AtomicInteger runs = new AtomicInteger();

  @AfterEach
  void close() {
    work.close();
  }

  @Test
  void aRunThatIsStartedAgainGivesTheFirstResult() throws Exception {
    WorkResult<StringValue> first = run(this::closed);
    WorkResult<StringValue> second = run(this::closed);

    assertThat(first.replayed()).isFalse();
    assertThat(second.replayed()).isTrue();
    assertThat(second.value()).isEqualTo(first.value());
    assertThat(second.operationId()).isEqualTo(first.operationId());
    assertThat(runs).hasValue(1);
  }

  @Test
  void anotherInputUnderTheSameTokenIsRefused() throws Exception {
    run(this::closed);

    assertThatExceptionOfType(WorkRefusedException.class)
        .isThrownBy(
            () ->
                work.run(
                    CLOSE_MONTH,
                    SYSTEM,
                    RUN,
                    StringValue.of("2026-12"),
                    StringValue.parser(),
                    this::closed))
        .satisfies(
            refused ->
                assertThat(refused.refusal().reason())
                    .isEqualTo(Refusal.Reason.IDEMPOTENCY_KEY_REUSED));
  }

  @Test
  void workThatFailedMayBeTriedAgain() throws Exception {
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(
            () ->
                run(
                    () -> {
                      throw new IllegalStateException("the ledger is locked");
                    }));

    assertThat(run(this::closed).replayed()).isFalse();
  }

  @Test
  void aTerminalFailureIsRepeated() {
    Callable<StringValue> failing =
        () -> {
          runs.incrementAndGet();
          throw new WorkFailedException(Code.FAILED_PRECONDITION, "the month is not over");
        };

    for (int i = 0; i < 2; i++) {
      assertThatExceptionOfType(WorkFailedException.class)
          .isThrownBy(() -> run(failing))
          .withMessage("the month is not over");
    }
    assertThat(runs).hasValue(1);
  }

  @Test
  void startedManyTimesAtOnceItRunsOnce() throws Exception {
    CountDownLatch start = new CountDownLatch(1);
    ExecutorService threads = Executors.newFixedThreadPool(20);
    try {
      List<Future<WorkResult<StringValue>>> results =
          IntStream.range(0, 20)
              .mapToObj(
                  i ->
                      threads.submit(
                          () -> {
                            start.await();
                            return run(this::closed);
                          }))
              .toList();
      start.countDown();
      for (Future<WorkResult<StringValue>> result : results) {
        assertThat(result.get().value()).isEqualTo(StringValue.of("closed by run 1"));
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(runs).hasValue(1);
  }

  private WorkResult<StringValue> run(Callable<StringValue> body) throws Exception {
    return work.run(CLOSE_MONTH, SYSTEM, RUN, MONTH, StringValue.parser(), body);
  }

  private StringValue closed() {
    return StringValue.of("closed by run " + runs.incrementAndGet());
  }
}
