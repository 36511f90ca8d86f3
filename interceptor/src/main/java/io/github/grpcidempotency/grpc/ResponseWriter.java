package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.grpc.IdempotencyMetadata.EXPIRES;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.OMITTED;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.OPERATION;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.RECONSTRUCTED;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.REPLAYED;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.STATUS;

import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.internal.wire.RefusalError;
import io.github.grpcidempotency.internal.wire.TerminalError;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;

/** Sends the answers of calls, with the library's trailers. */
final class ResponseWriter {
  private ResponseWriter() {}

  static <ResponseT> void replay(
      ServerCall<?, ResponseT> call,
      ResponseT message,
      Replay.Response replay,
      UUID operationId,
      Instant expires) {
    Metadata trailers = new Metadata();
    stamp(trailers, operationId, expires, replay.status());
    trailers.put(REPLAYED, "true");
    if (replay.reconstructed()) {
      trailers.put(RECONSTRUCTED, "true");
    }
    if (!replay.omitted().isEmpty()) {
      trailers.put(OMITTED, String.join(",", new TreeSet<>(replay.omitted())));
    }
    call.sendHeaders(new Metadata());
    call.sendMessage(message);
    call.close(Status.OK, trailers);
  }

  static void replay(ServerCall<?, ?> call, TerminalError error, UUID operationId) {
    stampError(error.trailers(), operationId);
    error.trailers().put(REPLAYED, "true");
    call.close(error.status(), error.trailers());
  }

  /** Sends an error of the wire contract, without headers. */
  static void refuse(ServerCall<?, ?> call, Refusal refusal, String keyName) {
    close(call, RefusalError.of(refusal, keyName));
  }

  /** Sends an error with its trailers, which gRPC drops from an exception that is thrown. */
  static void close(ServerCall<?, ?> call, StatusRuntimeException error) {
    Metadata trailers = error.getTrailers();
    call.close(error.getStatus(), trailers == null ? new Metadata() : trailers);
  }

  /**
   * Adds the trailer of an error about an operation. It shows the client that the call was not
   * refused by another interceptor before this one.
   */
  static void stampError(Metadata trailers, UUID operationId) {
    trailers.discardAll(REPLAYED);
    trailers.discardAll(OPERATION);
    trailers.put(OPERATION, operationId.toString());
  }

  static void stamp(
      Metadata trailers, UUID operationId, Instant expires, Optional<IdempotencyStatus> status) {
    for (Metadata.Key<String> ours :
        List.of(STATUS, REPLAYED, RECONSTRUCTED, OPERATION, EXPIRES, OMITTED)) {
      trailers.discardAll(ours);
    }
    status.ifPresent(known -> trailers.put(STATUS, known.name().toLowerCase(Locale.ROOT)));
    trailers.put(OPERATION, operationId.toString());
    trailers.put(EXPIRES, expires.toString());
  }
}
