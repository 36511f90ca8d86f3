package io.github.grpcidempotency.client;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;

/**
 * A call was executed and answered, but how the asynchronous work behind its answer ends could not
 * be waited for. Nothing is lost: it carries the {@link #reply}. With the same {@link #intent} the
 * wait can be begun again. Its status and trailers say why the wait has ended:
 *
 * <ul>
 *   <li>{@code DEADLINE_EXCEEDED}: the work still goes on, or the server's record of the call would
 *       have expired, and sending it once more might have run it again.
 *   <li>{@code NOT_FOUND}: the server has no such operation any more, or not for this caller.
 *   <li>{@code DATA_LOSS}: the server has forgotten the call before its time, and has run it again.
 *   <li>{@code CANCELLED}: the thread was interrupted, or the gRPC context cancelled.
 *   <li>Anything else is the server's own answer to a replay, or to the last question in time.
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

  /** Returns the same, with this thread's stack, and the other's as its cause. */
  AwaitFailedException here() {
    Metadata trailers = getTrailers() == null ? new Metadata() : getTrailers();
    return new AwaitFailedException(getStatus().withCause(this), trailers, intent, method, reply);
  }

  /** Returns the call's intent, for another wait later. */
  public Intent intent() {
    return intent;
  }

  /**
   * Returns the call's answer, with what was last heard of the work behind it.
   *
   * @param method the method that was called
   * @throws IllegalArgumentException if it is another method
   */
  @SuppressWarnings("unchecked") // a method's name stands for its types
  public <T> Reply<T> reply(MethodDescriptor<?, T> method) {
    if (!method.getFullMethodName().equals(this.method.getFullMethodName())) {
      throw new IllegalArgumentException(
          "the call was made to %s, not to %s"
              .formatted(this.method.getFullMethodName(), method.getFullMethodName()));
    }
    return (Reply<T>) reply;
  }

  /** Returns the status, and the reply but for its response. */
  @Override
  public String getMessage() {
    return "%s (answered by the service: %s)".formatted(super.getMessage(), reply);
  }
}
