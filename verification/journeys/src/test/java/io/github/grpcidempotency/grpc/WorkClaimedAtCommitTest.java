package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.StringValue;
import com.google.rpc.Code;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.key.Caller;
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

/** Work that is claimed at its commit. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
class WorkClaimedAtCommitTest {
  private static final Caller SYSTEM = Caller.of(new UUID(0, 1));
  private static final Procedure CLOSE_MONTH =
      Procedure.named("jobs/close-month")
          .execution(Execution.TRANSACTIONAL)
          .claimAtCommit()
          .build();

  private final EventJournal journal = new EventJournal();
  private final AtomicInteger runs = new AtomicInteger();
  private final CommitStore store;
  private final IdempotentWork work;

  WorkClaimedAtCommitTest(boolean bound) {
    this.store = new CommitStore(new InMemoryIdempotencyStore(), bound);
    this.work = IdempotentWork.builder(store, CLOSE_MONTH).listener(journal.listener()).build();
  }

  @AfterEach
  void everyTransactionHasEndedOnce() {
    work.close();
    assertThat(store.open()).isZero();
    assertThat(store.misuses()).isEmpty();
  }

  @Test
  void workThatHasRunBeforeIsRolledBackAndReplayed() throws Exception {
    WorkResult<StringValue> first = run(this::close);
    WorkResult<StringValue> second = run(this::close);

    assertThat(first.replayed()).isFalse();
    assertThat(second.replayed()).isTrue();
    assertThat(second.operationId()).isEqualTo(first.operationId());
    assertThat(runs).hasValue(2);
    assertThat(store.effects()).containsExactly("closed");
    assertThat(store.asked()).containsExactly("at commit", "at commit", "after a look");
    assertThat(journal.kinds())
        .containsExactly(Kind.KEY_FOUND, Kind.CLAIMED, Kind.SETTLED, Kind.KEY_FOUND, Kind.REPLAYED);
  }

  @Test
  void theResultOfPreemptedWorkIsDiscarded() throws Exception {
    run(this::close);

    WorkResult<StringValue> second =
        run(
            () -> {
              CommitStore.write("closed twice");
              return StringValue.of("closed twice");
            });
    WorkResult<StringValue> third =
        run(
            () -> {
              throw new WorkFailedException(Code.ABORTED, "not today");
            });

    assertThat(second.value()).isEqualTo(StringValue.of("closed"));
    assertThat(third.value()).isEqualTo(StringValue.of("closed"));
    assertThat(store.effects()).containsExactly("closed");
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
    CommitStore.write("closed");
    return StringValue.of("closed");
  }

  private WorkResult<StringValue> run(Callable<StringValue> body) throws Exception {
    return work.run(
        CLOSE_MONTH, SYSTEM, "2026-11", StringValue.of("2026-11"), StringValue.parser(), body);
  }
}
