package io.github.grpcidempotency.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.StringValue;
import com.google.rpc.Code;
import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.RefusalEvent;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.ReplayEvent;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class IdempotentWorkTest {
  private static final Caller SYSTEM = Caller.of(new UUID(0, 1));
  private static final String RUN = "job:close-month:2026-12-01T00:00:00Z";
  private static final StringValue MONTH = StringValue.of("2026-11");
  private static final Procedure CLOSE_MONTH =
      Procedure.named("jobs/close-month")
          .execution(Execution.RESERVED)
          .attach(Duration.ofSeconds(10))
          .failures(FailurePolicy.releaseAll().withTerminal(Code.FAILED_PRECONDITION))
          .build();

  private final EventJournal journal = new EventJournal();
  private final EventJournal second = new EventJournal();
  private final IdempotentWork work =
      IdempotentWork.builder(new InMemoryIdempotencyStore(), CLOSE_MONTH)
          .listener(journal.listener())
          .listener(second.listener())
          .build();
  private final AtomicInteger runs = new AtomicInteger();
  private volatile BiPredicate<Caller, Optional<ResourceId>> guard = (caller, resource) -> true;

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
  void allListenersReceiveARunItsReplayAndARefusal() throws Exception {
    WorkResult<StringValue> first = run(this::closed);
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
                    this::closed));

    assertThat(journal.kinds())
        .containsExactly(
            Kind.KEY_FOUND,
            Kind.CLAIMED,
            Kind.SETTLED,
            Kind.KEY_FOUND,
            Kind.REPLAYED,
            Kind.KEY_FOUND,
            Kind.REFUSED)
        .isEqualTo(second.kinds());
    ReplayEvent replayed = journal.only(Kind.REPLAYED, ReplayEvent.class);
    assertThat(replayed.operationId()).contains(first.operationId());
    assertThat(replayed.took()).isPositive();
    assertThat(replayed.entry()).isEqualTo(Entry.WORK);
    assertThat(journal.only(Kind.REFUSED, RefusalEvent.class).operationId())
        .contains(first.operationId());
    assertThat(journal.live()).isPresent();
    work.close();
    assertThat(journal.live()).isEmpty();
  }

  @Test
  void aListenerReceivesTheEventsOfAWaitForTheSameWork() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    Future<?> first =
        threads.submit(
            () ->
                run(
                    () -> {
                      running.countDown();
                      mayEnd.await();
                      return closed();
                    }));
    running.await();
    Future<?> duplicate = threads.submit(() -> run(this::closed));
    await().until(() -> !journal.all(Kind.ATTACHED, CallEvent.class).isEmpty());

    mayEnd.countDown();
    first.get();
    duplicate.get();

    WaitEvent ended = journal.only(Kind.WAIT_ENDED, WaitEvent.class);
    assertThat(ended.end()).isEqualTo(WaitEvent.End.ANSWERED);
    assertThat(ended.took()).isPositive();
    threads.shutdown();
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
  @SuppressWarnings("NullAway") // the mistake under test
  void workThatReturnsNullIsNamedAndMayBeTriedAgain() throws Exception {
    assertThatExceptionOfType(NullPointerException.class)
        .isThrownBy(() -> run(() -> null))
        .withMessage(CLOSE_MONTH.name() + ": the work returned null");

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
  void aGuardRefusesAReplayAndSoDoesOneThatFails() throws Exception {
    Procedure guarded =
        Procedure.named("jobs/guarded")
            .execution(Execution.RESERVED)
            .guard((caller, resource) -> guard.test(caller, resource))
            .build();
    run(guarded, this::closed);
    assertThat(run(guarded, this::closed).replayed()).isTrue();

    guard = (caller, resource) -> false;
    assertRefused(guarded, RefusalReason.REPLAY_DENIED);
    guard =
        (caller, resource) -> {
          throw new IllegalStateException("the rights cannot be read");
        };
    assertRefused(guarded, RefusalReason.REPLAY_DENIED);
    assertThat(runs).hasValue(1);
  }

  @Test
  void aReplayedResultNamesItsOmittedFields() throws Exception {
    Procedure omitting =
        Procedure.named("jobs/omitting").execution(Execution.RESERVED).omit("value").build();

    WorkResult<StringValue> first = run(omitting, this::closed);
    WorkResult<StringValue> second = run(omitting, this::closed);

    assertThat(first.value()).isEqualTo(StringValue.of("closed by run 1"));
    assertThat(first.omitted()).isEmpty();
    assertThat(second.value()).isEqualTo(StringValue.getDefaultInstance());
    assertThat(second.omitted()).containsExactly("value");
  }

  @Test
  void aTokenThatNoStoreCouldKeepIsRefused() {
    for (String token : List.of("", "a\0b", "t\ud800", "t".repeat(513))) {
      assertThatIllegalArgumentException()
          .isThrownBy(
              () ->
                  work.run(CLOSE_MONTH, SYSTEM, token, MONTH, StringValue.parser(), this::closed));
    }
    assertThat(runs).hasValue(0);
  }

  @Test
  void theSameTokenOfAnotherCallerIsOtherWork() throws Exception {
    run(this::closed);

    for (Caller other : List.of(SYSTEM.inTenant("acme"), Caller.of(new UUID(0, 2)))) {
      assertThat(
              work.run(CLOSE_MONTH, other, RUN, MONTH, StringValue.parser(), this::closed)
                  .replayed())
          .isFalse();
    }
    assertThat(runs).hasValue(3);
  }

  @Test
  void theTokenOfAMethodIsBroughtIntoTheFormOfItsKeys() throws Exception {
    String upper = "0193A0C4-7E5B-7CC1-9D6E-AABBCCDDEEFF";
    String lower = upper.toLowerCase(Locale.ROOT);
    Procedure byHeader = method().build();
    Procedure byField = method().keyFrom(KeySource.requestId().prefixed("thing:")).build();

    assertThat(runMethod(byHeader, upper).replayed()).isFalse();
    assertThat(runMethod(byHeader, lower).replayed()).isTrue();
    assertThat(runMethod(byField, "B1C5A4F0-7A36-4E8B-9F53-0D6C2A0B1E11").replayed()).isFalse();
    assertThat(runMethod(byField, "thing:b1c5a4f0-7a36-4e8b-9f53-0d6c2a0b1e11").replayed())
        .isTrue();
  }

  private static ProcedureBuilder<Thing> method() {
    return Procedure.of(ThingServer.CREATE_THING).execution(Execution.RESERVED);
  }

  private WorkResult<Thing> runMethod(Procedure method, String token) throws Exception {
    return work.run(
        method,
        SYSTEM,
        token,
        CreateThingRequest.getDefaultInstance(),
        Thing.parser(),
        Thing::getDefaultInstance);
  }

  @Test
  void theSameTokenOfAnotherKindIsRefused() throws Exception {
    run(this::closed);

    assertRefused(
        Procedure.named("jobs/open-month").execution(Execution.RESERVED).build(),
        RefusalReason.KEY_REUSED);
  }

  @Test
  void kindsAreCheckedBeforeAnyWork() {
    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(
            () ->
                IdempotentWork.builder(
                        new InMemoryIdempotencyStore(),
                        CLOSE_MONTH,
                        Procedure.named("jobs/a")
                            .execution(Execution.RESERVED)
                            .retention(Duration.ZERO)
                            .build(),
                        Procedure.named("jobs/b")
                            .execution(Execution.RESERVED)
                            .status(id -> IdempotencyStatus.FAILED)
                            .build())
                    .build())
        .withMessageContaining("jobs/a: its retention must be at least a millisecond")
        .withMessageContaining("jobs/b: it has a status source, but no resource");
  }

  private void assertRefused(Procedure kind, RefusalReason reason) {
    assertThatExceptionOfType(WorkRefusedException.class)
        .isThrownBy(() -> run(kind, this::closed))
        .satisfies(refused -> assertThat(refused.reason()).isEqualTo(reason));
  }

  private WorkResult<StringValue> run(Procedure kind, Callable<StringValue> body) throws Exception {
    return work.run(kind, SYSTEM, RUN, MONTH, StringValue.parser(), body);
  }

  private WorkResult<StringValue> run(Callable<StringValue> body) throws Exception {
    return work.run(CLOSE_MONTH, SYSTEM, RUN, MONTH, StringValue.parser(), body);
  }

  private StringValue closed() {
    return StringValue.of("closed by run " + runs.incrementAndGet());
  }
}
