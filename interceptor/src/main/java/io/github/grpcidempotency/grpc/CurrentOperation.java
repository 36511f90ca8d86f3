package io.github.grpcidempotency.grpc;

import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.record.OutboundKey;
import io.github.grpcidempotency.internal.runtime.Operation;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.PendingClaim;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreTransaction;
import io.grpc.Context;
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
    return claim()
        .map(Claim::operationId)
        .or(() -> OperationContext.pending().map(PendingClaim::operationId));
  }

  /**
   * Returns the number of this run of the operation, from 1; empty for a call without a key. Every
   * run after the first follows a run whose lease ended without an outcome, and whose effect may
   * have happened.
   */
  public static OptionalInt attempt() {
    return OperationContext.pending().isPresent()
        ? OptionalInt.of(1)
        : claim().map(Claim::attempt).map(OptionalInt::of).orElseGet(OptionalInt::empty);
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
    return transaction().isPresent();
  }

  /**
   * Makes the transaction roll back when the handler has ended, so that the call has no effect. If
   * the handler still answers {@code OK}, the client gets {@code INTERNAL}, and a retry runs the
   * handler again.
   *
   * @throws IllegalStateException if there is no transaction
   */
  public static void setRollbackOnly() {
    requireTransaction().setRollbackOnly();
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

  /**
   * Returns the claim of the current call; empty for a call without a key, and if the claim was not
   * known to be won when the handler started. For implementations of stores.
   */
  public static Optional<Claim> claim() {
    return OperationContext.operation().map(Operation::claim);
  }

  /**
   * Returns the request of the claim of the current call, whether or not the claim was won before
   * the handler started; empty for a call without a key. For implementations of stores.
   */
  public static Optional<ClaimRequest> claimRequest() {
    return claim()
        .map(Claim::request)
        .or(() -> OperationContext.pending().map(PendingClaim::request));
  }

  /**
   * Returns the transaction of the handler, if its procedure is transactional. For implementations
   * of stores.
   */
  public static Optional<StoreTransaction> transaction() {
    return OperationContext.transaction();
  }

  /**
   * Returns the transaction of the handler. For implementations of stores.
   *
   * @throws IllegalStateException if there is none; the message gives the reason
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
   * Returns the form in which the store records a response of the current call. Repeated calls with
   * the same response return the same result. For stores whose claims are completed within the
   * handler's own transaction.
   *
   * @throws IllegalStateException if the current call has no claim
   * @throws IllegalArgumentException if the response is not of the method's response type
   * @throws io.github.grpcidempotency.store.StoreException if the response cannot be encrypted
   */
  public static RecordedOutcome keptOf(Message response) {
    return OperationContext.operation()
        .orElseThrow(() -> new IllegalStateException("the current call has no claim"))
        .keptOf(response);
  }
}
