package io.github.grpcidempotency.grpc;

import static com.google.common.base.Preconditions.checkState;

import io.github.grpcidempotency.internal.runtime.RunningCalls;
import io.grpc.Context;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The call that the handler of a claimed operation gets. It buffers the messages of the handler and
 * passes them on once: when the handler closes the call, or, if the transaction is bound to a
 * thread, on that thread after the handler has returned. Messages of a dropped handler are not
 * passed on.
 */
final class RecordingCall<RequestT, ResponseT>
    extends SimpleForwardingServerCall<RequestT, ResponseT> implements RunningCalls.Call {

  /** The answer of a handler. */
  record Answer<ResponseT>(
      Metadata headers, Optional<ResponseT> message, Status status, Metadata trailers) {}

  /** Receives the handler's end. */
  interface Settler<ResponseT> {
    /** Called when the handler has closed the call. The handler sends nothing more. */
    void closed(Answer<ResponseT> answer);

    /**
     * Called when the handler has violated the protocol.
     *
     * @param leaveToGrpc lets gRPC answer the call from now on
     */
    void broken(Runnable leaveToGrpc);

    /** Returns the name of the operation for the log. */
    String subject();

    /** Returns, as a sentence, the consequence for the effect of a handler that is given up. */
    String consequence();

    /** Called when the call is over and the handler has not answered. A later answer is dropped. */
    void unanswered();
  }

  private final RunningCalls running;
  private final Context handlerContext;
  private final Settler<ResponseT> settler;
  private final Optional<ParkedEnd<ResponseT>> parked;

  /** Set by the handler's answer or by the end of the wait, whichever comes first. */
  private final AtomicBoolean ended = new AtomicBoolean();

  private Optional<Metadata> headers = Optional.empty();
  private Optional<ResponseT> message = Optional.empty();
  private boolean broken;
  private boolean closed;
  private volatile boolean leftToGrpc;
  private volatile boolean dropped;

  private RecordingCall(
      ServerCall<RequestT, ResponseT> call,
      RunningCalls running,
      Context handlerContext,
      Settler<ResponseT> settler,
      Optional<ParkedEnd<ResponseT>> parked) {
    super(call);
    this.running = running;
    this.handlerContext = handlerContext;
    this.settler = settler;
    this.parked = parked;
  }

  /**
   * Creates a call. It is settled on the thread on which the handler closes it, or, if its
   * transaction is bound to a thread, on the thread that runs the handler.
   *
   * @param handlerContext the handler's context, which is cancelled with the call
   */
  static <RequestT, ResponseT> RecordingCall<RequestT, ResponseT> of(
      ServerCall<RequestT, ResponseT> call,
      Settler<ResponseT> settler,
      RunningCalls running,
      Context handlerContext,
      boolean boundToThread) {
    if (!boundToThread) {
      return new RecordingCall<>(call, running, handlerContext, settler, Optional.empty());
    }
    ParkedEnd<ResponseT> parked = new ParkedEnd<>(settler, handlerContext);
    return new RecordingCall<>(call, running, handlerContext, parked, Optional.of(parked));
  }

  /** Called before the handler starts. */
  void begin() {
    running.begin(this);
  }

  @Override
  public String method() {
    return getMethodDescriptor().getFullMethodName();
  }

  @Override
  public String subject() {
    return settler.subject();
  }

  @Override
  public String consequence() {
    return settler.consequence();
  }

  @Override
  public boolean hasDeadline() {
    return handlerContext.getDeadline() != null;
  }

  @Override
  public boolean isOver() {
    return handlerContext.isCancelled();
  }

  @Override
  public void giveUp(Runnable report) {
    if (parked.isPresent()) {
      if (parked.get().giveUp()) {
        dropped = true;
        report.run();
      }
    } else if (isFirstEnd()) {
      dropped = true;
      report.run();
      end(settler::unanswered);
    }
  }

  private boolean isFirstEnd() {
    return parked.isPresent() || !ended.getAndSet(true);
  }

  /** Settles the call. If the call is bound to a thread, that thread settles it. */
  private void end(Runnable settlement) {
    try {
      settlement.run();
    } finally {
      if (parked.isEmpty()) {
        running.end(this);
      }
    }
  }

  /** Does nothing, because the request message was requested before the handler was started. */
  @Override
  public void request(int numMessages) {}

  /** Returns whether the handler's answer would be dropped. */
  @Override
  public boolean isCancelled() {
    return dropped || super.isCancelled();
  }

  @Override
  public void sendHeaders(Metadata sent) {
    checkState(headers.isEmpty(), "sendHeaders has already been called");
    checkState(!closed, "call is closed");
    headers = Optional.of(sent);
  }

  @Override
  public void sendMessage(ResponseT sent) {
    checkState(headers.isPresent(), "sendHeaders has not been called");
    checkState(!closed, "call is closed");
    if (leftToGrpc) {
      super.sendMessage(sent);
    } else if (message.isEmpty()) {
      message = Optional.of(sent);
    } else if (!broken) {
      broken = true;
      if (isFirstEnd()) {
        end(() -> settler.broken(() -> leaveToGrpc(sent)));
      }
    }
  }

  private void leaveToGrpc(ResponseT second) {
    super.sendHeaders(headers.orElseThrow());
    super.sendMessage(message.orElseThrow());
    super.sendMessage(second);
    leftToGrpc = true;
  }

  @Override
  public void close(Status status, Metadata trailers) {
    checkState(!closed, "call already closed");
    closed = true;
    if (leftToGrpc) {
      super.close(status, trailers);
    } else if (!broken && isFirstEnd()) {
      Metadata sent = headers.orElseGet(Metadata::new);
      end(() -> settler.closed(new Answer<>(sent, message, status, trailers)));
    }
  }

  /** Called when the handler has returned. Settles the call if it is bound to this thread. */
  void handlerReturned() {
    if (parked.isPresent()) {
      try {
        parked.get().settle();
      } finally {
        running.end(this);
      }
    }
  }

  /**
   * Detaches the call from its handler. As for a call that its client has cancelled, later messages
   * of the handler are dropped without an error.
   */
  void drop() {
    dropped = true;
    ended.set(true);
    parked.ifPresent(ParkedEnd::forget);
    running.end(this);
  }

  /**
   * Detaches the call from a handler that threw. If the call is bound to the handler's thread, no
   * answer of the handler counts.
   *
   * @return whether the call has not been settled
   */
  boolean abandon() {
    boolean unsettled = isFirstEnd();
    closed |= parked.isEmpty();
    running.end(this);
    return unsettled;
  }
}
