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
 * The call that the handler of a claimed operation gets. It keeps what the handler sends, and hands
 * it over once: when the handler closes the call, or, if the transaction is bound to a thread, on
 * that thread and after the handler has returned. Nothing that a dropped handler sends is handed
 * over.
 */
final class RecordingCall<RequestT, ResponseT>
    extends SimpleForwardingServerCall<RequestT, ResponseT> implements RunningCalls.Call {

  /** What a handler sent. */
  record Answer<ResponseT>(
      Metadata headers, Optional<ResponseT> message, Status status, Metadata trailers) {}

  /** Waits for the handler's end. */
  interface Settler<ResponseT> {
    /** The handler closed the call; it will send nothing more. */
    void closed(Answer<ResponseT> answer);

    /**
     * The handler broke the protocol.
     *
     * @param leaveToGrpc lets gRPC answer the call, from here on
     */
    void broken(Runnable leaveToGrpc);

    /** Names the operation for the log. */
    String subject();

    /** Returns, as a sentence, the consequence for the effect of a handler that is given up. */
    String consequence();

    /** The call is over, and the handler has not answered. It is not waited for any longer. */
    void unanswered();
  }

  private final RunningCalls running;
  private final Context handlerContext;
  private final Settler<ResponseT> settler;
  private final Optional<ParkedEnd<ResponseT>> parked;

  /** The handler's answer, or the end of the wait for it, decides the call once. */
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
   * Makes a call that is settled on the thread on which the handler closes it, or on the thread
   * that runs the handler.
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

  /** The handler begins now. */
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

  /**
   * Settles the call. If the call is bound to a thread, it ends when that thread has settled it.
   */
  private void end(Runnable settlement) {
    try {
      settlement.run();
    } finally {
      if (parked.isEmpty()) {
        running.end(this);
      }
    }
  }

  /** Does nothing: the one request message was asked for before the handler was started. */
  @Override
  public void request(int numMessages) {}

  /** Returns whether nobody waits for the handler's answer. */
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

  /** The handler has returned: settles the call here, if it is bound to this thread. */
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
   * Takes the call from its handler, which has run in vain: the call goes on without it. As for a
   * call that its client has cancelled, what the handler still sends is dropped without an error.
   */
  void drop() {
    dropped = true;
    ended.set(true);
    parked.ifPresent(ParkedEnd::forget);
    running.end(this);
  }

  /**
   * Takes the call from a handler that threw. If it is bound to the handler's thread, nothing that
   * the handler has answered, or still answers, counts.
   *
   * @return whether the call is unsettled
   */
  boolean abandon() {
    boolean unsettled = isFirstEnd();
    closed |= parked.isEmpty();
    running.end(this);
    return unsettled;
  }
}
