package io.github.grpcidempotency.grpc;

import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.runtime.KeyedRequest;
import io.github.grpcidempotency.internal.runtime.Operation;
import io.github.grpcidempotency.internal.runtime.OutboundKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreTransaction;
import io.grpc.Context;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * The operation that the current handler or piece of work runs in. It is found through the gRPC
 * {@link io.grpc.Context}: on the handler's own thread, or wherever that context is current.
 * Thread-safe.
 */
public final class CurrentOperation {
  private CurrentOperation() {}

  /**
   * Returns the id of the operation, which the client gets as {@code idempotency-operation} and
   * which stays the same when another server takes over; empty for a call without a key.
   */
  public static Optional<UUID> operationId() {
    return claim().map(Claim::operationId);
  }

  /**
   * Returns the number of this run of the operation, from 1; empty for a call without a key. A run
   * after the first follows one whose server died, and whose effect may have happened.
   */
  public static OptionalInt attempt() {
    return claim().map(Claim::attempt).map(OptionalInt::of).orElseGet(OptionalInt::empty);
  }

  /**
   * Returns whether the handler runs in a transaction of the store, as the handler of a
   * transactional procedure does.
   */
  public static boolean hasTransaction() {
    return transaction().isPresent();
  }

  /**
   * Rolls the transaction back when the handler has ended, so that nothing of the call remains. If
   * the handler still answers {@code OK}, the client gets {@code INTERNAL}, and a retry runs the
   * handler again.
   *
   * @throws IllegalStateException if there is no transaction
   */
  public static void setRollbackOnly() {
    requireTransaction().setRollbackOnly();
  }

  /**
   * Returns an idempotency key for a call that the handler makes. A provider that deduplicates by
   * key then acts once, however often the handler runs. The key is the same in every run of the
   * same operation, also after the client's key was released and the client has retried, and also
   * while the store cannot be reached. It differs for each name, user and client's key, and reveals
   * none of them. Without a client's key it is random, and differs each time.
   *
   * @param name which of the handler's calls it is, such as {@code charge}; never change it
   * @return a UUID of version 4 as text
   */
  public static String outboundKey(String name) {
    return OperationContext.request()
        .map(request -> OutboundKey.of(request.key(), request.procedure(), name))
        .orElseGet(UUID::randomUUID)
        .toString();
  }

  /**
   * Returns the claim of the current call; empty for a call without a key. For a store's own
   * module.
   */
  public static Optional<Claim> claim() {
    return OperationContext.get().map(Operation::claim);
  }

  /**
   * Returns the transaction that the handler writes through, if its procedure has one. For a
   * store's own module.
   */
  public static Optional<StoreTransaction> transaction() {
    return OperationContext.transaction();
  }

  /**
   * Returns the transaction that the handler writes through. For a store's own module.
   *
   * @throws IllegalStateException if there is none; its message says why
   */
  public static StoreTransaction requireTransaction() {
    return transaction()
        .orElseThrow(() -> new IllegalStateException("no transaction is available: " + whyNone()));
  }

  private static String whyNone() {
    Optional<KeyedRequest> request = OperationContext.request();
    if (request.isPresent()) {
      return ("the procedure %s is not TRANSACTIONAL: set .execution(Execution.TRANSACTIONAL), or"
              + " record the answer in the handler's own transaction with TransactionalCompletion")
          .formatted(request.get().procedure().name());
    }
    if (Context.current() == Context.ROOT) {
      return "this thread has no Context of a gRPC call; use the handler's own thread, or pass"
          + " the call's Context to this thread with Context.current().wrap(…)";
    }
    return "the IdempotencyInterceptor is not registered with this server, or the method has no"
        + " TRANSACTIONAL procedure: pass the interceptor to ServerBuilder.intercept(…), and"
        + " describe the method with .execution(Execution.TRANSACTIONAL)";
  }

  /**
   * Returns what the store keeps for a response under the current claim. The same response gives
   * the same result each time. For a store whose claims are completed within the handler's own
   * transaction.
   *
   * @throws IllegalStateException if the current call has no claim
   * @throws IllegalArgumentException if the method answers with another type
   * @throws io.github.grpcidempotency.store.StoreException if the response cannot be sealed
   */
  public static RecordedOutcome keptOf(Message response) {
    return OperationContext.get()
        .orElseThrow(() -> new IllegalStateException("the current call has no claim"))
        .keptOf(response);
  }
}
