package io.github.grpcidempotency.client;

import com.google.longrunning.Operation;
import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.proto.v1.OperationMetadata;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Waits until the asynchronous work behind an answer has ended.
 *
 * <ol>
 *   <li>The client calls {@code WaitOperation} ({@code google.longrunning.Operations}) until the
 *       work has ended.
 *   <li>After a retryable error, the client calls it again. If the server has no such operation,
 *       the wait ends, because another call could run the handler again. After any other error, the
 *       client stops calling {@code WaitOperation}. It then reads the record of the call's key at
 *       intervals ({@code idempotency.v1.Recovery}), which runs no handler. If the error may be
 *       temporary, the client reads the record only once before it calls {@code WaitOperation}
 *       again.
 *   <li>If the server has no Recovery service, the client repeats the call at intervals, but only
 *       until the record expires.
 * </ol>
 */
final class AwaitLoop<RequestT, T> {
  /** The waits between requests to a server that cannot wait itself. */
  private static final Backoff POLLS = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5));

  /** How far this machine's clock may lag behind that of the server's database. */
  static final Duration CLOCK_LAG = Duration.ofMinutes(1);

  private static final Status STILL_RUNNING =
      Status.DEADLINE_EXCEEDED.withDescription(
          "the asynchronous work behind the answer is still running");

  private final KeyedCall<RequestT, T> call;
  private final Backoff backoff;
  private final AttemptChain<Reply<T>> chain = new AttemptChain<>();

  private volatile Optional<Reply<T>> known = Optional.empty();
  private int failures;
  private int polls;
  private boolean serverWaits = true;
  private boolean serverRecovers = true;

  AwaitLoop(KeyedCall<RequestT, T> call, Backoff backoff) {
    this.call = call;
    this.backoff = backoff;
  }

  /** Starts with an answer. */
  CompletableFuture<Reply<T>> start(Reply<T> answer) {
    begin(answer);
    return chain.result();
  }

  /** Starts when the answer has arrived. */
  CompletableFuture<Reply<T>> startAfter(CompletableFuture<Reply<T>> answer) {
    CompletableFuture<Reply<T>> unused =
        answer.whenComplete(
            (reply, failure) -> {
              if (failure == null) {
                begin(reply);
              } else {
                chain.result().completeExceptionally(failure);
              }
            });
    CompletableFuture<Reply<T>> unusedToo =
        chain.result().whenComplete((done, failure) -> answer.cancel(true));
    return chain.result();
  }

  private void begin(Reply<T> answer) {
    known = Optional.of(answer);
    if (answer.isProcessing()) {
      goOn(answer);
    } else {
      chain.result().complete(answer);
    }
  }

  /** Returns the failure if the wait ended now; empty before there is an answer. */
  Optional<StatusRuntimeException> failure(Status status) {
    return failure(status, new Metadata());
  }

  private Optional<StatusRuntimeException> failure(Status status, Metadata trailers) {
    return known.map(
        reply -> AwaitFailedException.of(status, trailers, call.intent(), call.method(), reply));
  }

  private void goOn(Reply<T> answer) {
    answer
        .operationId()
        .filter(id -> serverWaits)
        .ifPresentOrElse(this::askToWait, () -> pollAfter(POLLS.delay(++polls)));
  }

  private void askToWait(UUID operationId) {
    long begin = System.nanoTime();
    chain.run(
        () -> call.waitFor(operationId),
        result -> {
          if (result.response().isPresent()) {
            received(result.response().get(), operationId, System.nanoTime() - begin);
          } else {
            notHeard(result, operationId);
          }
        });
  }

  private void received(Operation operation, UUID operationId, long nanos) {
    failures = 0;
    OperationMetadata metadata = metadata(operation);
    Optional<Instant> expires =
        Optional.of(metadata)
            .filter(OperationMetadata::hasExpireTime)
            .map(OperationMetadata::getExpireTime)
            .map(time -> Instant.ofEpochSecond(time.getSeconds(), time.getNanos()));
    if (operation.getDone()) {
      end(failed(operation, metadata) ? Reply.Status.FAILED : Reply.Status.COMPLETED, expires);
      return;
    }
    known = known.map(reply -> reply.updated(Reply.Status.PROCESSING, expires));
    // Calls a server that has waited again at once, and any other server after a pause.
    Duration rest = POLLS.delay(++polls).minusNanos(nanos);
    if (rest.isNegative()) {
      polls = 0;
      rest = Duration.ZERO;
    }
    after(rest, () -> askToWait(operationId));
  }

  private void notHeard(AttemptResult<Operation> result, UUID operationId) {
    if (result.reason().equals(Optional.of(WireNames.OPERATION_UNKNOWN))) {
      end(result.status(), result.trailers());
      return;
    }
    Optional<Duration> wait = result.retryAfter(backoff, ++failures);
    if (wait.isEmpty()) {
      failures = 0;
      serverWaits = result.mayBeCut();
      pollAfter(POLLS.delay(++polls));
    } else if (call.endsWithin(wait.get())) {
      endAtDeadline(result);
    } else {
      chain.after(wait.get(), () -> askToWait(operationId));
    }
  }

  private void pollAfter(Duration wait) {
    Optional<RecoverRequest> question = call.question().filter(asked -> serverRecovers);
    if (question.isPresent()) {
      after(wait, () -> recover(question.get()));
    } else {
      replayAfter(wait);
    }
  }

  private void recover(RecoverRequest question) {
    chain.run(
        () -> call.recover(question),
        result -> {
          if (result.response().isPresent()) {
            recovered(result.response().get());
          } else {
            notRecovered(result);
          }
        });
  }

  private void recovered(RecoverResponse found) {
    failures = 0;
    Reply<T> answer = known.orElseThrow();
    Optional<UUID> recorded = Reply.uuid(found.getOperation());
    if (found.hasUnfinished()
        || answer.operationId().filter(id -> !recorded.equals(Optional.of(id))).isPresent()) {
      runAgain(answer);
      return;
    }
    Optional<Instant> expires =
        Optional.of(found)
            .filter(RecoverResponse::hasExpires)
            .map(RecoverResponse::getExpires)
            .map(time -> Instant.ofEpochSecond(time.getSeconds(), time.getNanos()));
    switch (found.getWorkStatus()) {
      case WORK_STATUS_COMPLETED -> end(Reply.Status.COMPLETED, expires);
      case WORK_STATUS_FAILED -> end(Reply.Status.FAILED, expires);
      case WORK_STATUS_PROCESSING, WORK_STATUS_UNSPECIFIED, UNRECOGNIZED -> {
        known = Optional.of(answer.updated(Reply.Status.PROCESSING, expires));
        goOn(answer);
      }
    }
  }

  private void notRecovered(AttemptResult<RecoverResponse> result) {
    if (result.reason().equals(Optional.of(WireNames.KEY_UNKNOWN))) {
      end(result.status(), result.trailers());
      return;
    }
    Optional<Duration> wait = result.retryAfter(backoff, ++failures);
    if (wait.isEmpty()) {
      failures = 0;
      serverRecovers = result.mayBeCut();
      replayAfter(POLLS.delay(++polls));
    } else if (call.endsWithin(wait.get())) {
      endAtDeadline(result);
    } else {
      chain.after(wait.get(), () -> goOn(known.orElseThrow()));
    }
  }

  private void replayAfter(Duration wait) {
    if (untilExpiry().compareTo(wait) <= 0) {
      endBeforeExpiry();
    } else {
      after(wait, this::replay);
    }
  }

  private void replay() {
    Duration left = untilExpiry();
    if (left.isNegative()) {
      endBeforeExpiry();
    } else {
      chain.run(
          () -> call.repeatBefore(Deadline.after(left.toNanos(), TimeUnit.NANOSECONDS)),
          this::replayed);
    }
  }

  private void replayed(AttemptResult<T> result) {
    if (result.response().isPresent()) {
      replayed(Reply.of(result.response().get(), result.trailers()));
      return;
    }
    Optional<Duration> wait = result.retryAfter(backoff, ++failures);
    if (wait.isEmpty()) {
      end(result.status(), result.trailers());
    } else if (call.endsWithin(wait.get())) {
      endAtDeadline(result);
    } else {
      pollAfter(wait.get());
    }
  }

  private void replayed(Reply<T> replay) {
    failures = 0;
    Reply<T> answer = known.orElseThrow();
    if (!replay.replayed() || !replay.operationId().equals(answer.operationId())) {
      known = Optional.of(replay);
      runAgain(answer);
      return;
    }
    Reply.Status status = replay.status().orElse(Reply.Status.PROCESSING);
    known = Optional.of(answer.updated(status, replay.expires()));
    if (status == Reply.Status.PROCESSING) {
      goOn(answer);
    } else {
      end(status, replay.expires());
    }
  }

  private void runAgain(Reply<T> answer) {
    end(
        Status.DATA_LOSS.withDescription(
            ("the server lost the record of the first answer before it expired, and ran the call"
                    + " again; the first answer: %s")
                .formatted(answer)),
        new Metadata());
  }

  private void after(Duration wait, Runnable next) {
    if (call.endsWithin(wait)) {
      end(STILL_RUNNING, new Metadata());
    } else {
      chain.after(wait, next);
    }
  }

  /** Returns how long a replay is safe; zero if the server does not send an expiry time. */
  private Duration untilExpiry() {
    return known
        .flatMap(Reply::expires)
        .map(expires -> Duration.between(Instant.now(), expires).minus(CLOCK_LAG))
        .orElse(Duration.ZERO);
  }

  /** Ends with the last failure, unless that is the deadline itself. */
  private void endAtDeadline(AttemptResult<?> result) {
    if (result.status().getCode() == Status.Code.DEADLINE_EXCEEDED) {
      end(STILL_RUNNING, new Metadata());
    } else {
      end(result.status(), result.trailers());
    }
  }

  private void endBeforeExpiry() {
    end(
        Status.DEADLINE_EXCEEDED.withDescription(
            "the asynchronous work behind the answer is still running, and its record may expire"
                + " before the call is repeated"),
        new Metadata());
  }

  private void end(Reply.Status status, Optional<Instant> expires) {
    chain.result().complete(known.orElseThrow().updated(status, expires));
  }

  private void end(Status status, Metadata trailers) {
    chain.result().completeExceptionally(failure(status, trailers).orElseThrow());
  }

  private static boolean failed(Operation operation, OperationMetadata metadata) {
    return operation.hasError() || metadata.getState() == OperationMetadata.State.STATE_FAILED;
  }

  private static OperationMetadata metadata(Operation operation) {
    Any metadata = operation.getMetadata();
    try {
      return metadata.is(OperationMetadata.class)
          ? metadata.unpack(OperationMetadata.class)
          : OperationMetadata.getDefaultInstance();
    } catch (InvalidProtocolBufferException malformed) {
      return OperationMetadata.getDefaultInstance();
    }
  }
}
