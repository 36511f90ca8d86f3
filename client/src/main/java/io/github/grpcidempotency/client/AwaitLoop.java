package io.github.grpcidempotency.client;

import com.google.longrunning.Operation;
import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.proto.v1.OperationMetadata;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * Waits until the asynchronous work behind an answer has ended: calls {@code WaitOperation} ({@code
 * google.longrunning.Operations}) until the operation is done. After an error that may be
 * temporary, the client calls it again. Any other error ends the wait.
 */
final class AwaitLoop<RequestT, T> {
  /** The waits between requests to a server that answers at once instead of waiting. */
  private static final Backoff POLLS = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5));

  private static final Status STILL_RUNNING =
      Status.DEADLINE_EXCEEDED.withDescription(
          "the asynchronous work behind the answer is still running");

  private final KeyedCall<RequestT, T> call;
  private final Backoff backoff;
  private final AttemptChain<Reply<T>> chain = new AttemptChain<>();

  private volatile Optional<Reply<T>> known = Optional.empty();
  private int failures;
  private int polls;

  AwaitLoop(KeyedCall<RequestT, T> call, Backoff backoff) {
    this.call = call;
    this.backoff = backoff;
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
    Optional<UUID> running = answer.operationId().filter(id -> answer.isProcessing());
    if (running.isPresent()) {
      waitFor(running.get());
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

  private void waitFor(UUID operationId) {
    long begin = System.nanoTime();
    chain.run(
        () -> call.waitFor(operationId),
        result -> {
          if (result.response().isPresent()) {
            received(result.response().get(), operationId, System.nanoTime() - begin);
          } else {
            failed(result, operationId);
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
      Reply.Status status =
          metadata.getState() == OperationMetadata.State.STATE_FAILED
              ? Reply.Status.FAILED
              : Reply.Status.COMPLETED;
      chain.result().complete(known.orElseThrow().updated(status, expires));
      return;
    }
    known = known.map(reply -> reply.updated(Reply.Status.PROCESSING, expires));
    // Calls a server that has waited again at once, and any other server after a pause.
    Duration rest = POLLS.delay(++polls).minusNanos(nanos);
    if (rest.isNegative()) {
      polls = 0;
      rest = Duration.ZERO;
    }
    if (call.endsWithin(rest)) {
      end(STILL_RUNNING, new Metadata());
    } else {
      chain.after(rest, () -> waitFor(operationId));
    }
  }

  private void failed(AttemptResult<Operation> result, UUID operationId) {
    failures++;
    Optional<Duration> wait =
        result.mayBeCut() && !chain.isCancelled()
            ? Optional.of(backoff.delay(failures))
            : result.retryAfter(backoff, failures);
    if (wait.isEmpty()) {
      end(result.status(), result.trailers());
    } else if (!call.endsWithin(wait.get())) {
      chain.after(wait.get(), () -> waitFor(operationId));
    } else if (result.status().getCode() == Status.Code.DEADLINE_EXCEEDED) {
      end(STILL_RUNNING, new Metadata()); // the deadline of the attempt was that of the wait
    } else {
      end(result.status(), result.trailers());
    }
  }

  private void end(Status status, Metadata trailers) {
    chain.result().completeExceptionally(failure(status, trailers).orElseThrow());
  }

  private static OperationMetadata metadata(Operation operation) {
    try {
      return operation.getMetadata().unpack(OperationMetadata.class);
    } catch (InvalidProtocolBufferException ofAnotherLibrary) {
      return OperationMetadata.getDefaultInstance();
    }
  }
}
