package io.github.grpcidempotency.grpc.spi;

import com.google.protobuf.Duration;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.StoredOperation;
import io.grpc.StatusRuntimeException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * What a service that shows callers their own operations uses of an interceptor. Not for users.
 * Thread-safe.
 */
public interface OperationAccess {
  /** Returns the procedures whose answers can be part of another response, by their names. */
  Map<String, Procedure> procedures();

  /** Returns the stores by their shards; one store without a shard if there are no shards. */
  Map<Optional<String>, IdempotencyStore> stores();

  /**
   * Checks the store of a shard, if this was not possible at start-up.
   *
   * @throws io.github.grpcidempotency.store.StoreException if the store has not passed the checks
   */
  void check(Optional<String> shard);

  /** Returns the executor that resumes calls after a wait. */
  Executor executor();

  /** Adds an action that runs when the interceptor is closed, before its waiting calls end. */
  void onClose(Runnable action);

  /**
   * Begins a request, on the thread on which it arrives.
   *
   * @param service the name of the service in events about operations that are not found
   */
  Request begin(String service);

  /** One request about operations, with its events. Thread-safe. */
  interface Request {
    /** Returns the caller, or throws the refusal of a request without one. Called first. */
    Caller caller();

    /** Returns the shard of the caller. */
    Optional<String> shard();

    /** Sets the operation that the request is about, for its events and its refusal. */
    void about(StoredOperation operation);

    /**
     * Returns the status of the asynchronous work behind a recorded answer, and emits an event if
     * it cannot be read. Empty if it can never be read.
     */
    Optional<IdempotencyStatus> status(StoredOperation answered);

    /**
     * Returns a recorded answer without the status of its work, or throws the refusal of a caller
     * who may not get it, or of an answer that cannot be read.
     */
    RecoverResponse answer(StoredOperation answered);

    /** Returns a recorded answer as {@link #answer} does; empty if it is refused. */
    Optional<RecoverResponse> answerUnlessRefused(StoredOperation answered);

    /** Emits the event of a recorded answer that is about to be sent. */
    void replayed(StoredOperation answered);

    /** Returns the exception that refuses the request. */
    RuntimeException refusal(RefusalReason reason);

    /** Returns the error for the client, and emits an event unless the request is not valid. */
    StatusRuntimeException failed(Throwable failure);

    /** Returns the time that the request may wait, of the time that its client has requested. */
    java.time.Duration waitLimit(Duration requested);

    /**
     * Waits for the end of a running call, without a thread or a connection.
     *
     * @param begun receives a task that ends the wait, before the wait starts
     * @param ended called on a thread that must not block, with {@code true} if the limit is over
     *     or too many calls wait
     */
    void await(
        StoredOperation running,
        java.time.Duration limit,
        Consumer<Runnable> begun,
        Consumer<Boolean> ended);

    /**
     * Lets the request be refused while it waits, because its server stops.
     *
     * @param stop receives the refusal; may be called at any time until {@link #answered}
     */
    void waiting(Consumer<RuntimeException> stop);

    /** Ends what {@link #waiting} began. */
    void answered();

    /** Runs an action within the scope in which the request arrived, on the current thread. */
    void within(Runnable action);
  }
}
