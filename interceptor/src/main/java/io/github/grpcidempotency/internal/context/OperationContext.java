package io.github.grpcidempotency.internal.context;

import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.settling.OwnedClaim;
import io.github.grpcidempotency.proto.ServedKey;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.grpc.Context;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * The context of one handler: the current gRPC {@link Context} with the operation and the
 * transaction of the handler. The static methods read the context of the current thread.
 */
public record OperationContext(Context context) {
  private static final Context.Key<OwnedClaim> OPERATION = Context.key("idempotency-operation");
  private static final Context.Key<KeyedRequest> REQUEST = Context.key("idempotency-request");
  private static final Context.Key<StoreTransaction> TRANSACTION =
      Context.key("idempotency-transaction");
  private static final Context.Key<Boolean> INTERCEPTED = Context.key("idempotency-intercepted");

  /** Returns the context of a handler with a claim. */
  public static OperationContext of(OwnedClaim operation) {
    Context running = keyed(operation.request()).withValue(OPERATION, operation);
    return new OperationContext(
        operation.claim().transaction().map(open -> with(running, open)).orElse(running));
  }

  /** Returns the context of a handler that runs for a call with a key, but without a claim. */
  public static OperationContext of(KeyedRequest request) {
    return new OperationContext(keyed(request));
  }

  /** Returns the context of a handler that has a transaction and no key. */
  public static OperationContext of(StoreTransaction transaction) {
    return new OperationContext(with(Context.current(), transaction));
  }

  private static Context keyed(KeyedRequest request) {
    return ServedKey.in(Context.current().withValue(REQUEST, request), request.key().value());
  }

  private static Context with(Context context, StoreTransaction transaction) {
    return context.withValue(TRANSACTION, transaction);
  }

  public void run(Runnable action) {
    context.run(action);
  }

  public <T> T call(Callable<T> work) throws Exception {
    return context.call(work);
  }

  /** Settles a run in this context, without its cancellation and its deadline. */
  public void settle(Runnable settlement) {
    context.fork().run(settlement);
  }

  /** Returns the operation of the handler; empty without a key. */
  public static Optional<OwnedClaim> operation() {
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

  public static StoreTransaction requireTransaction() {
    return transaction()
        .orElseThrow(() -> new IllegalStateException("no transaction is available: " + whyNone()));
  }

  private static String whyNone() {
    Optional<KeyedRequest> request = request();
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

  public static boolean isIntercepted() {
    return INTERCEPTED.get() != null;
  }

  /** Returns the current context, marked as that of a call that an interceptor serves. */
  public static Context intercepted() {
    return Context.current().withValue(INTERCEPTED, true);
  }
}
