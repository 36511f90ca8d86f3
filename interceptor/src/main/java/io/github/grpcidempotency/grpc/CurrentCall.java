package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.StoreTransaction;
import io.grpc.Context;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.Callable;

/**
 * What the running handler, or piece of work, runs under. Found through the gRPC {@link Context}:
 * on the handler's own thread, or wherever that context is current. Thread-safe.
 */
public final class CurrentCall {
  private static final Context.Key<Claim> CLAIM = Context.key("idempotency-claim");
  private static final Context.Key<StoreTransaction> TRANSACTION =
      Context.key("idempotency-transaction");

  private static final Context.Key<Boolean> GUARDED = Context.key("idempotency-guarded");

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

  /** Returns the claim that the handler runs under; empty for a call without a key. */
  public static Optional<Claim> claim() {
    return Optional.ofNullable(CLAIM.get());
  }

  /** Returns the transaction that the handler writes through, if its procedure has one. */
  public static Optional<StoreTransaction> transaction() {
    return Optional.ofNullable(TRANSACTION.get());
  }

  /** Runs work that came otherwise than by gRPC under a claim. */
  public static <T> T run(Claim claim, Callable<T> work) throws Exception {
    return of(Context.current(), claim).call(work);
  }

  /** Returns whether an interceptor of this library has already begun to serve the call. */
  static boolean isGuarded() {
    return GUARDED.get() != null;
  }

  static Context guarded(Context context) {
    return context.withValue(GUARDED, true);
  }

  static Context of(Context context, Claim claim) {
    Context claimed = context.withValue(CLAIM, claim);
    return claim.transaction().map(open -> of(claimed, open)).orElse(claimed);
  }

  static Context of(Context context, StoreTransaction transaction) {
    return context.withValue(TRANSACTION, transaction);
  }
}
