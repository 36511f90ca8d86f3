package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.StringValue;
import com.google.rpc.Code;
import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkFailedException;
import io.github.grpcidempotency.work.WorkResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Work whose transactions are bound to the thread that has begun them. */
class ThreadBoundWorkTest {
  private static final Caller SYSTEM = Caller.of(new UUID(0, 1));
  private static final Procedure CLOSE_MONTH =
      Procedure.named("jobs/close-month")
          .execution(Execution.TRANSACTIONAL)
          .attach(Duration.ofMinutes(1))
          .build();

  private final EventJournal journal = new EventJournal();
  private final ThreadBoundStore bound = new ThreadBoundStore(new InMemoryIdempotencyStore());
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final IdempotentWork work =
      IdempotentWork.builder(bound, CLOSE_MONTH).listener(journal.listener()).build();

  @AfterEach
  void close() {
    work.close();
    threads.shutdownNow();
    assertThat(bound.open()).isZero();
  }

  @Test
  void workIsSettledOnItsThreadOnceItHasReturned() throws Exception {
    run(this::closed);
    assertThat(run(this::closed).replayed()).isTrue();

    assertThat(bound.steps()).containsExactly("begin", "returned", "commit");
    assertThat(bound.threads()).containsExactly(Thread.currentThread());
  }

  @Test
  void onceWorkHasFailedOneOfThoseThatWaitRunsOnItsOwnThreadAndTheOthersGoOnWaiting()
      throws Exception {
    CountDownLatch mayEnd = new CountDownLatch(1);
    Future<WorkResult<StringValue>> first =
        threads.submit(
            () ->
                run(
                    () -> {
                      mayEnd.await();
                      throw new WorkFailedException(Code.UNAVAILABLE, "not yet");
                    }));
    await().until(() -> journal.kinds().contains(Kind.CLAIMED));
    List<Future<WorkResult<StringValue>>> others = new ArrayList<>();
    for (int other = 1; other <= 5; other++) {
      others.add(threads.submit(() -> run(this::closed)));
    }
    await().until(() -> journal.all(Kind.ATTACHED, CallEvent.class).size() == 5);

    mayEnd.countDown();

    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(first::get)
        .withCauseInstanceOf(WorkFailedException.class);
    List<Boolean> replayed = new ArrayList<>();
    for (Future<WorkResult<StringValue>> other : others) {
      replayed.add(other.get().replayed());
    }
    assertThat(replayed).containsOnlyOnce(false);
    assertThat(bound.steps()).containsExactly("begin", "rollback", "begin", "returned", "commit");
    assertThat(bound.claims()).isEqualTo(2);
    assertThat(journal.all(Kind.ATTACHED, CallEvent.class)).hasSize(5);
    assertThat(journal.all(Kind.WAIT_ENDED, WaitEvent.class))
        .extracting(WaitEvent::end)
        .hasSize(5)
        .containsOnlyOnce(WaitEvent.End.CLAIMED)
        .contains(WaitEvent.End.ANSWERED);
  }

  private StringValue closed() {
    bound.note("returned");
    return StringValue.of("closed");
  }

  private WorkResult<StringValue> run(Callable<StringValue> body) throws Exception {
    return work.run(
        CLOSE_MONTH, SYSTEM, "2026-11", StringValue.of("2026-11"), StringValue.parser(), body);
  }
}
