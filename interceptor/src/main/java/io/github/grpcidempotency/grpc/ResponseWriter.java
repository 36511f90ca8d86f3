package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.grpc.IdempotencyMetadata.OMITTED;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.RECONSTRUCTED;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.REPLAYED;

import io.github.grpcidempotency.grpc.internal.RefusalError;
import io.github.grpcidempotency.grpc.internal.TerminalError;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.record.Replay;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Instant;
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
    IdempotencyMetadata.stamp(trailers, operationId, expires, replay.status());
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
    IdempotencyMetadata.stampError(error.trailers(), operationId);
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
}
