package io.github.grpcidempotency.internal.context;

import io.github.grpcidempotency.internal.runtime.KeyedRequest;
import io.github.grpcidempotency.internal.runtime.Operation;
import io.github.grpcidempotency.store.StoreTransaction;
import io.grpc.Context;
import java.util.Optional;
import java.util.concurrent.Callable;

/** The operation, and the transaction, that the current gRPC {@link Context} carries. */
public final class OperationContext {
  private static final Context.Key<Operation> OPERATION = Context.key("idempotency-operation");
  private static final Context.Key<KeyedRequest> REQUEST = Context.key("idempotency-request");
  private static final Context.Key<StoreTransaction> TRANSACTION =
      Context.key("idempotency-transaction");
  private static final Context.Key<Boolean> GUARDED = Context.key("idempotency-guarded");

  private OperationContext() {}

  /** Returns the operation of the handler; empty for a call without a key. */
  public static Optional<Operation> get() {
    return Optional.ofNullable(OPERATION.get());
  }

  /** Returns the request of a call with a key, protected or not; empty without a key. */
  public static Optional<KeyedRequest> request() {
    return Optional.ofNullable(REQUEST.get());
  }

  /** Returns the transaction of the handler, if its procedure is transactional. */
  public static Optional<StoreTransaction> transaction() {
    return Optional.ofNullable(TRANSACTION.get());
  }

  /** Runs work as an operation. */
  public static <T> T run(Operation operation, Callable<T> work) throws Exception {
    return in(Context.current(), operation).call(work);
  }

  /** Returns the context of an operation's handler. */
  public static Context in(Context context, Operation operation) {
    Context running = in(context, operation.request()).withValue(OPERATION, operation);
    return operation.claim().transaction().map(open -> in(running, open)).orElse(running);
  }

  /** Returns the context of a handler that runs for a call with a key, but without a claim. */
  public static Context in(Context context, KeyedRequest request) {
    return context.withValue(REQUEST, request);
  }

  /** Returns the context of a handler with a transaction. */
  public static Context in(Context context, StoreTransaction transaction) {
    return context.withValue(TRANSACTION, transaction);
  }

  /** Returns whether an interceptor of this library already serves the call. */
  public static boolean isGuarded() {
    return GUARDED.get() != null;
  }

  /** Returns the context of a call that an interceptor serves. */
  public static Context guarded(Context context) {
    return context.withValue(GUARDED, true);
  }
}
