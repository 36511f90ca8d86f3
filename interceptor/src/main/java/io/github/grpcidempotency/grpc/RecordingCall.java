package io.github.grpcidempotency.grpc;

import static com.google.common.base.Preconditions.checkState;

import io.grpc.Context;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Optional;

/**
 * The call that the handler of a claimed operation gets. It keeps what the handler sends, and hands
 * it over once: when the handler closes the call, or, if the transaction is bound to a thread, on
 * that thread and after the handler has returned. Nothing that a dropped handler sends is handed
 * over.
 */
final class RecordingCall<RequestT, ResponseT>
    extends SimpleForwardingServerCall<RequestT, ResponseT> {

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

    /** The call is over, and the handler has not answered. It is not waited for any longer. */
    void unanswered();
  }

  private final Settler<ResponseT> settler;
  private final Optional<ParkedEnd<ResponseT>> parked;
  private Optional<Metadata> headers = Optional.empty();
  private Optional<ResponseT> message = Optional.empty();
  private boolean broken;
  private boolean closed;
  private volatile boolean leftToGrpc;
  private volatile boolean dropped;

  /** Makes a call that is settled on the thread on which the handler closes it. */
  RecordingCall(ServerCall<RequestT, ResponseT> call, Settler<ResponseT> settler) {
    super(call);
    this.settler = settler;
    this.parked = Optional.empty();
  }

  private RecordingCall(ServerCall<RequestT, ResponseT> call, ParkedEnd<ResponseT> parked) {
    super(call);
    this.settler = parked;
    this.parked = Optional.of(parked);
  }

  /**
   * Makes a call that is settled on the thread that runs the handler.
   *
   * @param handlerContext the handler's context, which is cancelled with the call
   * @param patience for how long an answer is waited for once the call is cancelled or late
   */
  static <RequestT, ResponseT> RecordingCall<RequestT, ResponseT> boundToThread(
      ServerCall<RequestT, ResponseT> call,
      Settler<ResponseT> settler,
      Context handlerContext,
      Duration patience) {
    return new RecordingCall<>(call, new ParkedEnd<>(settler, handlerContext, patience));
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
      settler.broken(() -> leaveToGrpc(sent));
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
    } else if (!broken) {
      settler.closed(new Answer<>(headers.orElseGet(Metadata::new), message, status, trailers));
    }
  }

  /** The handler has returned: settles the call here, if it is bound to this thread. */
  void handlerReturned() {
    try {
      parked.ifPresent(ParkedEnd::settle);
    } finally {
      Reference.reachabilityFence(this); // nobody takes it for dropped while it is waited for
    }
  }

  /**
   * Takes the call from its handler, which has run in vain: the call goes on without it. As for a
   * call that its client has cancelled, what the handler still sends is dropped without an error.
   */
  void drop() {
    dropped = true;
    parked.ifPresent(ParkedEnd::forget);
  }

  /**
   * Takes the call from a handler that threw. If it is bound to the handler's thread, nothing that
   * the handler has answered, or still answers, counts.
   *
   * @return whether the call is unsettled
   */
  boolean abandon() {
    boolean unsettled = parked.isPresent() || (!closed && !broken);
    closed |= parked.isEmpty();
    return unsettled;
  }
}
