package io.github.grpcidempotency.work;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import com.google.rpc.Code;
import io.github.grpcidempotency.call.internal.Answer;
import io.github.grpcidempotency.call.internal.ErrorAnswer;
import io.github.grpcidempotency.call.internal.KeyedCall;
import io.github.grpcidempotency.call.internal.Run;
import io.github.grpcidempotency.call.internal.Transport;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.HandlerError;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.RecordedError;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * One piece of work. Every step runs on the thread that calls {@link #serve}, which blocks until
 * there is a result; only what is settled after the end of a host's transaction runs on another.
 * The first result counts.
 */
final class WorkTransport<T extends Message> implements Transport {
  private final Procedure kind;
  private final Parser<T> results;
  private final Callable<T> work;
  private final BlockingQueue<Runnable> steps = new LinkedBlockingQueue<>();
  private final CompletableFuture<WorkResult<T>> result = new CompletableFuture<>();
  private Optional<Throwable> thrown = Optional.empty();

  WorkTransport(Procedure kind, Parser<T> results, Callable<T> work) {
    this.kind = kind;
    this.results = results;
    this.work = work;
  }

  /** Serves the work, and returns its result or throws its exception. */
  WorkResult<T> serve(KeyedCall call) throws Exception {
    try {
      call.start();
      while (!result.isDone()) {
        awaitStep(call).run();
      }
      return result.get();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof Error error) {
        throw error;
      }
      throw failed.getCause() instanceof Exception cause ? cause : failed;
    } finally {
      call.ended();
    }
  }

  private Runnable awaitStep(KeyedCall call) throws InterruptedException {
    try {
      return steps.take();
    } catch (InterruptedException interrupted) {
      if (!call.cancel()) {
        Uninterruptibles.takeUninterruptibly(steps).run();
      }
      throw interrupted;
    }
  }

  @Override
  public void runHandler(Run run) throws Exception {
    T value =
        run.context()
            .call(
                () ->
                    Objects.requireNonNull(
                        work.call(), () -> kind.name() + ": the work returned null"));
    run.answered(new Value(value));
  }

  @Override
  public Answer answerOf(Throwable exception) {
    thrown = Optional.of(exception);
    Runnable sending = () -> end(exception);
    return exception instanceof WorkFailedException failed
        ? new ErrorAnswer(
            failed.code(), Objects.requireNonNullElse(failed.getMessage(), ""), sending)
        : new ErrorAnswer(Code.UNKNOWN, "the work failed", sending);
  }

  @Override
  public void stopHandler() {}

  /** Work always fails closed, even if its procedure fails open. */
  @Override
  public OutagePolicy outagePolicy() {
    return OutagePolicy.FAIL_CLOSED;
  }

  @Override
  public void runUnprotected(OperationContext context) {
    throw new AssertionError("work fails closed");
  }

  @Override
  public Optional<Duration> timeLeft() {
    return Optional.empty();
  }

  @Override
  public boolean isGone() {
    return thrown.filter(InterruptedException.class::isInstance).isPresent();
  }

  @Override
  public boolean callerRunsHandler() {
    return true;
  }

  @Override
  public Executor resumption() {
    return steps::add;
  }

  @Override
  public Consumer<Instant> read(Replay.Response response, UUID operationId)
      throws InvalidProtocolBufferException {
    T value = results.parseFrom(response.bytes());
    return expires ->
        result.complete(
            WorkResult.first(value, operationId, expires, response.status())
                .replayedWithout(response.omitted()));
  }

  @Override
  public Consumer<Instant> readError(ByteString bytes, UUID operationId)
      throws InvalidProtocolBufferException {
    RecordedError error = RecordedError.parseFrom(bytes);
    Code code = Code.forNumber(error.getCode());
    if (code == null || code == Code.OK) {
      throw new InvalidProtocolBufferException("a recorded error has code " + error.getCode());
    }
    return expires -> fail(code, error.getMessage());
  }

  @Override
  public void refuse(Refusal refusal, String keyName) {
    WorkRefusedException refused = new WorkRefusedException(refusal);
    thrown.ifPresent(refused::initCause);
    end(refused);
  }

  @Override
  public void fail(Code code, String message) {
    end(new WorkFailedException(code, message));
  }

  @Override
  public void misused(TransactionMisuseException misuse) {
    end(misuse);
  }

  @Override
  public void cancelled() {
    end(thrown.orElseThrow());
  }

  private void end(Throwable exception) {
    result.completeExceptionally(exception);
  }

  /** Does nothing, because work does not depend on a server. */
  @Override
  public void cutOff(Refusal refusal, String keyName, Runnable first) {}

  @Override
  public boolean keep() {
    return true;
  }

  /** The value that the work has returned. */
  private final class Value implements Answer {
    private final T value;

    Value(T value) {
      this.value = value;
    }

    @Override
    public Optional<Message> response() {
      return Optional.of(value);
    }

    @Override
    public HandlerError error() {
      throw new AssertionError("the work has a result");
    }

    @Override
    public RecordedOutcome recordOfError() {
      throw new AssertionError("the work has a result");
    }

    @Override
    public void send(UUID operationId, Instant expires, Optional<IdempotencyStatus> status) {
      result.complete(WorkResult.first(value, operationId, expires, status));
    }

    @Override
    public void sendUnrecorded() {
      throw new AssertionError("work has a token");
    }
  }
}
