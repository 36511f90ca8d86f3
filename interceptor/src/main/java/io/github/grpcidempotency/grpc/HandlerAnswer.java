package io.github.grpcidempotency.grpc;

import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.internal.call.Answer;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.HandlerError;
import io.github.grpcidempotency.internal.wire.TerminalError;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** The answer with which a handler has closed its call. */
final class HandlerAnswer<ResponseT> implements Answer {
  private final ServerCall<?, ResponseT> call;
  private final FailurePolicy policy;
  private final RateLimitedLog log;
  private final Metadata headers;
  private final Optional<ResponseT> message;
  private final Status status;
  private Metadata trailers;

  HandlerAnswer(
      ServerCall<?, ResponseT> call,
      FailurePolicy policy,
      RateLimitedLog log,
      Metadata headers,
      Optional<ResponseT> message,
      Status status,
      Metadata trailers) {
    this.call = call;
    this.policy = policy;
    this.log = log;
    this.headers = headers;
    this.message = message;
    this.status = status;
    this.trailers = trailers;
  }

  @Override
  public Optional<Message> response() {
    return status.isOk() ? message.map(Message.class::cast) : Optional.empty();
  }

  @Override
  public HandlerError error() {
    OperationContext.request()
        .ifPresent(request -> trailers = ResourceGone.explain(failure(), trailers, request, log));
    boolean marked = IdempotencyMetadata.removeTerminalMark(trailers);
    return new HandlerError(Code.forNumber(failure().getCode().value()), marked);
  }

  @Override
  public RecordedOutcome recordOfError() {
    return TerminalError.record(failure(), trailers, policy);
  }

  /** gRPC turns OK without a message into INTERNAL when the call is closed. */
  private Status failure() {
    return status.isOk() ? Status.INTERNAL : status;
  }

  @Override
  public void send(UUID operationId, Instant expires, Optional<IdempotencyStatus> work) {
    ResponseWriter.stamp(trailers, operationId, expires, work);
    sendResponse();
  }

  @Override
  public void sendError(UUID operationId) {
    ResponseWriter.stampError(trailers, operationId);
    call.close(status, trailers);
  }

  @Override
  public void sendUnrecorded() {
    if (response().isPresent()) {
      sendResponse();
    } else {
      boolean unused = IdempotencyMetadata.removeTerminalMark(trailers);
      call.close(status, trailers);
    }
  }

  private void sendResponse() {
    call.sendHeaders(headers);
    message.ifPresent(call::sendMessage);
    call.close(status, trailers);
  }
}
