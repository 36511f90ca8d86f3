package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.StoreTransaction;
import io.grpc.Context;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * What the library has put into the gRPC {@link Context} of the running handler. Stores build on
 * it; a service uses what its store offers, such as a transaction's handle.
 */
public final class CurrentCall {
  private static final Context.Key<Claim> CLAIM = Context.key("idempotency-claim");
  private static final Context.Key<StoreTransaction> TRANSACTION =
      Context.key("idempotency-transaction");

  private static final Context.Key<Boolean> GUARDED = Context.key("idempotency-guarded");

  private CurrentCall() {}

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
