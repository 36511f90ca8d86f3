package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.StringValue;
import com.google.rpc.Code;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkFailedException;
import io.github.grpcidempotency.work.WorkResult;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Work that is claimed with its first statement. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
class LateClaimWorkTest {
  private static final Caller SYSTEM = Caller.of(new UUID(0, 1));
  private static final Procedure CLOSE_MONTH =
      Procedure.named("jobs/close-month")
          .execution(Execution.TRANSACTIONAL)
          .claim(ClaimTiming.WITH_FIRST_STATEMENT)
          .build();

  private final EventJournal journal = new EventJournal();
  private final AtomicInteger runs = new AtomicInteger();
  private final LateStore late;
  private final IdempotentWork work;

  LateClaimWorkTest(boolean bound) {
    this.late = new LateStore(new InMemoryIdempotencyStore(), bound);
    this.work = IdempotentWork.builder(late, CLOSE_MONTH).listener(journal.listener()).build();
  }

  @AfterEach
  void everyTransactionHasEndedOnce() {
    work.close();
    assertThat(late.open()).isZero();
    assertThat(late.misuses()).isEmpty();
  }

  @Test
  void workThatHasRunBeforeIsStoppedAtItsFirstStatement() throws Exception {
    WorkResult<StringValue> first = run(this::close);
    WorkResult<StringValue> second = run(this::close);

    assertThat(first.replayed()).isFalse();
    assertThat(second.replayed()).isTrue();
    assertThat(second.operationId()).isEqualTo(first.operationId());
    assertThat(runs).hasValue(2);
    assertThat(late.effects()).containsExactly("closed");
    assertThat(late.asked()).containsExactly("later", "later", "after a look");
    assertThat(journal.kinds())
        .containsExactly("KeyFound", "Claimed", "ClaimSettled", "KeyFound", "Replayed");
  }

  @Test
  void theResultOfStoppedWorkIsDiscarded() throws Exception {
    run(this::close);

    WorkResult<StringValue> second =
        run(
            () -> {
              try {
                return close();
              } catch (LateStore.Preempted stopped) {
                return StringValue.of("closed twice");
              }
            });
    WorkResult<StringValue> third =
        run(
            () -> {
              throw new WorkFailedException(Code.ABORTED, "not today");
            });

    assertThat(second.value()).isEqualTo(StringValue.of("closed"));
    assertThat(third.value()).isEqualTo(StringValue.of("closed"));
    assertThat(late.effects()).containsExactly("closed");
  }

  @Test
  void anInterruptionIsNotDropped() throws Exception {
    run(this::close);

    assertThatExceptionOfType(InterruptedException.class)
        .isThrownBy(
            () ->
                run(
                    () -> {
                      throw new InterruptedException("to stop");
                    }));
  }

  private StringValue close() {
    runs.incrementAndGet();
    LateStore.write("closed");
    return StringValue.of("closed");
  }

  private WorkResult<StringValue> run(Callable<StringValue> body) throws Exception {
    return work.run(
        CLOSE_MONTH, SYSTEM, "2026-11", StringValue.of("2026-11"), StringValue.parser(), body);
  }
}
