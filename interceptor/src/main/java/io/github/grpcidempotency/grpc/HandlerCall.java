package io.github.grpcidempotency.grpc;

import static com.google.common.base.Preconditions.checkState;

import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.call.internal.Answer;
import io.github.grpcidempotency.call.internal.Run;
import io.github.grpcidempotency.grpc.internal.TerminalError;
import io.github.grpcidempotency.internal.decision.HandlerError;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * The call that the handler of a {@link Run} gets. It buffers the messages of the handler, and
 * passes them on when the run is settled.
 */
final class HandlerCall<RequestT, ResponseT>
    extends SimpleForwardingServerCall<RequestT, ResponseT> {
  private final Run run;
  private final FailurePolicy policy;
  private Optional<Metadata> headers = Optional.empty();
  private Optional<ResponseT> message = Optional.empty();
  private boolean broken;
  private boolean closed;

  HandlerCall(ServerCall<RequestT, ResponseT> call, Run run, FailurePolicy policy) {
    super(call);
    this.run = run;
    this.policy = policy;
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
    if (message.isEmpty()) {
      message = Optional.of(sent);
    } else if (!broken) {
      broken = true;
      run.answered(new Closed(violation("Too many responses"), new Metadata()));
    }
  }

  /**
   * Returns the answer to a handler that has sent two messages or none, with the description that
   * gRPC uses. gRPC itself would reset the stream, and the client would get {@code CANCELLED}.
   */
  private static Status violation(String description) {
    return Status.INTERNAL.withDescription(description);
  }

  @Override
  public void close(Status status, Metadata trailers) {
    checkState(!closed, "call already closed");
    closed = true;
    if (status.getCode() == Status.Code.UNKNOWN && status.getCause() != null) {
      run.logException(status.getCause());
    }
    if (!broken) {
      boolean unanswered = status.isOk() && message.isEmpty();
      run.answered(
          new Closed(unanswered ? violation("Completed without a response") : status, trailers));
    }
  }

  /** The answer with which the handler has closed the call. */
  private final class Closed implements Answer {
    private final Metadata trailers;
    private Status status;

    Closed(Status status, Metadata trailers) {
      this.status = status;
      this.trailers = trailers;
    }

    @Override
    public Optional<Message> response() {
      return status.isOk() ? message.map(Message.class::cast) : Optional.empty();
    }

    @Override
    public HandlerError error() {
      boolean marked = IdempotencyMetadata.removeTerminalMark(trailers);
      return new HandlerError(Code.forNumber(status.getCode().value()), marked);
    }

    @Override
    public RecordedOutcome recordOfError() {
      status = TerminalError.shortened(status);
      return TerminalError.record(status, trailers, policy);
    }

    @Override
    public void send(UUID operationId, Instant expires, Optional<IdempotencyStatus> work) {
      if (response().isPresent()) {
        IdempotencyMetadata.stamp(trailers, operationId, expires, work);
      } else {
        IdempotencyMetadata.stampError(trailers, operationId);
      }
      send();
    }

    @Override
    public void sendUnrecorded() {
      if (response().isEmpty()) {
        IdempotencyMetadata.removeTerminalMark(trailers);
      }
      send();
    }

    private void send() {
      if (response().isPresent()) {
        delegate().sendHeaders(headers.orElseGet(Metadata::new));
        message.ifPresent(delegate()::sendMessage);
      }
      delegate().close(status, trailers);
    }
  }
}
