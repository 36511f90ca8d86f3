package io.github.grpcidempotency.grpc;

import static com.google.common.base.Preconditions.checkState;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.Optional;

/**
 * The call that the handler of a claimed operation gets. It keeps what the handler sends, and hands
 * it over once, when the handler closes the call.
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

    /** The handler broke the protocol. From here on gRPC answers the call. */
    void broken();
  }

  private final Settler<ResponseT> settler;
  private Optional<Metadata> headers = Optional.empty();
  private Optional<ResponseT> message = Optional.empty();
  private boolean broken;
  private boolean closed;

  RecordingCall(ServerCall<RequestT, ResponseT> call, Settler<ResponseT> settler) {
    super(call);
    this.settler = settler;
  }

  /** Does nothing: the one request message was asked for before the handler was started. */
  @Override
  public void request(int numMessages) {}

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
    if (broken) {
      super.sendMessage(sent);
    } else if (message.isPresent()) {
      broken = true;
      settler.broken();
      super.sendHeaders(headers.get());
      super.sendMessage(message.get());
      super.sendMessage(sent);
    } else {
      message = Optional.of(sent);
    }
  }

  @Override
  public void close(Status status, Metadata trailers) {
    checkState(!closed, "call already closed");
    closed = true;
    if (broken) {
      super.close(status, trailers);
    } else {
      settler.closed(new Answer<>(headers.orElseGet(Metadata::new), message, status, trailers));
    }
  }

  /**
   * Takes the call from a handler that threw.
   *
   * @return whether the call was still open
   */
  boolean abandon() {
    boolean open = !closed && !broken;
    closed = true;
    return open;
  }
}
