package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.record.OutboundKey;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * The operation of the current handler or piece of work. It is part of the gRPC {@link
 * io.grpc.Context}, so it is available on the handler's own thread and wherever that context is
 * current. Thread-safe.
 */
public final class CurrentOperation {
  private CurrentOperation() {}

  /**
   * Returns the id of the operation; empty for a call without a key. The client gets it in the
   * trailer {@code idempotency-operation}. It stays the same when another server takes over.
   */
  public static Optional<UUID> operationId() {
    return OperationContext.operation().map(operation -> operation.claim().operationId());
  }

  /**
   * Returns the number of this run of the operation, from 1; empty for a call without a key. Every
   * run after the first follows a run whose lease ended without an outcome, and whose effect may
   * have happened.
   */
  public static OptionalInt attempt() {
    return OperationContext.operation()
        .map(operation -> OptionalInt.of(operation.claim().attempt()))
        .orElseGet(OptionalInt::empty);
  }

  /** Returns the key of the current call, protected or not; empty for a call without a key. */
  public static Optional<IdempotencyKey> key() {
    return OperationContext.request().map(KeyedRequest::key);
  }

  /**
   * Returns whether the handler runs in a transaction of the store. This is the case for
   * transactional procedures.
   */
  public static boolean hasTransaction() {
    return OperationContext.transaction().isPresent();
  }

  /**
   * Makes the transaction roll back when the handler has ended, so that the call has no effect. If
   * the handler still answers {@code OK}, the client gets {@code INTERNAL}, and a retry runs the
   * handler again.
   *
   * @throws IllegalStateException if there is no transaction
   */
  public static void setRollbackOnly() {
    OperationContext.requireTransaction().setRollbackOnly();
  }

  /**
   * Returns an idempotency key for a call that the handler makes to another service. If the other
   * service deduplicates by key, it acts once, however often the handler runs. The key is the same
   * in every run of the same operation, even if the client's key was released before a retry, and
   * even during an outage of the store. It depends on the name, the user and the client's key, and
   * does not reveal them. For a call without a key, the result is random.
   *
   * @param name names the call among those that the handler makes, for example {@code charge};
   *     never change it
   * @return a UUID (version 4) as text
   */
  public static String outboundKey(String name) {
    return OperationContext.request()
        .map(request -> OutboundKey.of(request.key(), request.procedure(), name))
        .orElseGet(UUID::randomUUID)
        .toString();
  }
}
