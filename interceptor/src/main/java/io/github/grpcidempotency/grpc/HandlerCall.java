package io.github.grpcidempotency.grpc;

import static com.google.common.base.Preconditions.checkState;

import io.github.grpcidempotency.internal.call.Run;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.Optional;

/**
 * The call that the handler of a {@link Run} gets. It buffers the messages of the handler, and
 * passes them on when the run is settled.
 */
final class HandlerCall<RequestT, ResponseT>
    extends SimpleForwardingServerCall<RequestT, ResponseT> {
  private final GrpcCall<RequestT, ResponseT> transport;
  private final Run run;
  private Optional<Metadata> headers = Optional.empty();
  private Optional<ResponseT> message = Optional.empty();
  private boolean broken;
  private boolean closed;
  private volatile boolean leftToGrpc;

  HandlerCall(
      GrpcCall<RequestT, ResponseT> transport, ServerCall<RequestT, ResponseT> call, Run run) {
    super(call);
    this.transport = transport;
    this.run = run;
  }

  /** Does nothing, because the request message was requested before the handler was started. */
  @Override
  public void request(int numMessages) {}

  @Override
  public boolean isCancelled() {
    return run.isDropped() || super.isCancelled();
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
      run.answered(transport.violation(() -> leaveToGrpc(sent)));
    }
  }

  /** Lets gRPC answer a handler that has sent two messages. */
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
      run.answered(transport.answer(headers.orElseGet(Metadata::new), message, status, trailers));
    }
  }
}
