package io.github.grpcidempotency.client;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;

/**
 * A call was executed and answered, but the wait for the end of its asynchronous work failed. The
 * exception contains the {@link #reply}. The wait can be repeated with the same {@link #intent}.
 * The status and the trailers show why the wait ended:
 *
 * <ul>
 *   <li>{@code DEADLINE_EXCEEDED}: the work is still running.
 *   <li>{@code NOT_FOUND}: the server has no such operation for this caller any more.
 *   <li>{@code UNIMPLEMENTED}: the server does not have {@code google.longrunning.Operations}.
 *   <li>{@code CANCELLED}: the thread was interrupted, or the gRPC context was cancelled.
 *   <li>Any other code is the server's answer to {@code WaitOperation}.
 * </ul>
 */
public final class AwaitFailedException extends StatusRuntimeException {
  private final Intent intent;
  private final MethodDescriptor<?, ?> method;
  private final Reply<?> reply;

  private AwaitFailedException(
      Status status,
      Metadata trailers,
      Intent intent,
      MethodDescriptor<?, ?> method,
      Reply<?> reply) {
    super(status, trailers);
    this.intent = intent;
    this.method = method;
    this.reply = reply;
  }

  static <T> AwaitFailedException of(
      Status status,
      Metadata trailers,
      Intent intent,
      MethodDescriptor<?, T> method,
      Reply<T> reply) {
    return new AwaitFailedException(status, trailers, intent, method, reply);
  }

  /** Returns the same exception with the stack of this thread, and this exception as its cause. */
  AwaitFailedException here() {
    Metadata trailers = getTrailers() == null ? new Metadata() : getTrailers();
    return new AwaitFailedException(getStatus().withCause(this), trailers, intent, method, reply);
  }

  /** Returns the call's intent, for another wait later. */
  public Intent intent() {
    return intent;
  }

  /**
   * Returns the call's answer, with the last known status of its asynchronous work.
   *
   * @param method the method that was called
   * @throws IllegalArgumentException if another method was called
   */
  @SuppressWarnings("unchecked") // the names are equal, so the types are equal
  public <T> Reply<T> reply(MethodDescriptor<?, T> method) {
    if (!method.getFullMethodName().equals(this.method.getFullMethodName())) {
      throw new IllegalArgumentException(
          "the call was made to %s, not to %s"
              .formatted(this.method.getFullMethodName(), method.getFullMethodName()));
    }
    return (Reply<T>) reply;
  }

  /** Returns the status, and the reply without its response. */
  @Override
  public String getMessage() {
    return "%s (answered by the service: %s)".formatted(super.getMessage(), reply);
  }
}
