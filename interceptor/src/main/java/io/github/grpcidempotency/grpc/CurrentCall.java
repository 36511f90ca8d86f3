package io.github.grpcidempotency.grpc;

import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.context.CurrentOperation;
import io.github.grpcidempotency.internal.runtime.Operation;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreTransaction;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * What the running handler, or piece of work, runs under. Found through the gRPC {@link
 * io.grpc.Context}: on the handler's own thread, or wherever that context is current. Thread-safe.
 */
public final class CurrentCall {
  private CurrentCall() {}

  /**
   * Returns the id of the operation, which the client gets as {@code idempotency-operation} and
   * which stays the same when another server takes over; empty for a call without a key.
   */
  public static Optional<UUID> operationId() {
    return claim().map(Claim::operationId);
  }

  /**
   * Returns which run of the operation this is, from 1; empty for a call without a key. A later one
   * follows a run whose server died, and whose effect may have happened.
   */
  public static OptionalInt attempt() {
    return claim().map(Claim::attempt).map(OptionalInt::of).orElseGet(OptionalInt::empty);
  }

  /**
   * Returns whether the handler has a transaction of the store's to write through, as that of a
   * transactional procedure has.
   */
  public static boolean hasTransaction() {
    return transaction().isPresent();
  }

  /**
   * Has the transaction rolled back when the handler has ended. Nothing of the call remains then: a
   * handler that answers OK all the same is answered for with {@code INTERNAL}, and a retry runs
   * again.
   *
   * @throws IllegalStateException if there is no transaction
   */
  public static void setRollbackOnly() {
    transaction()
        .orElseThrow(() -> new IllegalStateException("the current call has no transaction"))
        .setRollbackOnly();
  }

  /**
   * Returns the claim that the handler runs under; empty for a call without a key. For a store's
   * own module.
   */
  public static Optional<Claim> claim() {
    return CurrentOperation.get().map(Operation::claim);
  }

  /**
   * Returns the transaction that the handler writes through, if its procedure has one. For a
   * store's own module.
   */
  public static Optional<StoreTransaction> transaction() {
    return CurrentOperation.transaction();
  }

  /**
   * Returns what the current claim's store is to keep of a response, and the same again for the
   * same response. For a store whose claims are completed within the handler's own transaction.
   *
   * @throws IllegalStateException if the current call has no claim
   * @throws io.github.grpcidempotency.store.StoreException if the response cannot be sealed
   */
  public static RecordedOutcome keptOf(Message response) {
    return CurrentOperation.get()
        .orElseThrow(() -> new IllegalStateException("the current call has no claim"))
        .keptOf(response);
  }
}
