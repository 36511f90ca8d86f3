package io.github.grpcidempotency.grpc;

import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.internal.call.Answer;
import io.github.grpcidempotency.internal.decision.HandlerError;
import io.github.grpcidempotency.internal.wire.TerminalError;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * The error with which gRPC itself answers a handler that has thrown, or violated the protocol.
 *
 * @param leaveToGrpc lets gRPC answer
 */
record GrpcError(Status status, FailurePolicy policy, Runnable leaveToGrpc) implements Answer {
  @Override
  public Optional<Message> response() {
    return Optional.empty();
  }

  @Override
  public HandlerError error() {
    return new HandlerError(Code.forNumber(status.getCode().value()), false);
  }

  @Override
  public RecordedOutcome recordOfError() {
    return TerminalError.record(status, new Metadata(), policy);
  }

  @Override
  public void send(UUID operationId, Instant expires, Optional<IdempotencyStatus> work) {
    leaveToGrpc.run();
  }

  @Override
  public void sendUnrecorded() {
    leaveToGrpc.run();
  }
}
