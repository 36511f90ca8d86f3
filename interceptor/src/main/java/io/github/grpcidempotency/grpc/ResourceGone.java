package io.github.grpcidempotency.grpc;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.internal.runtime.KeyedRequest;
import io.github.grpcidempotency.procedure.PastResources;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.util.Optional;

/**
 * Tells whoever deletes what is not there that it has been there, if the procedure knows: the 410
 * of HTTP, in an error that is still the handler's own.
 */
final class ResourceGone {
  private ResourceGone() {}

  /**
   * Returns the trailers of a handler's error: with the reason added if what the request deletes
   * existed, as they are otherwise. Never throws.
   */
  static Metadata told(Status status, Metadata trailers, KeyedRequest request, RateLimitedLog log) {
    Procedure procedure = request.procedure();
    Optional<PastResources> past = procedure.pastResources();
    if (past.isEmpty() || status.getCode() != Status.Code.NOT_FOUND) {
      return trailers;
    }
    try {
      return procedure
          .deletedId(request.message())
          .filter(id -> past.get().existed(request.key().caller(), id))
          .map(id -> withReason(status, trailers))
          .orElse(trailers);
    } catch (RuntimeException | Error unknown) {
      log.warn(
          procedure.name() + " past resources",
          unknown,
          procedure.name() + ": it could not be told whether what a delete did not find existed");
      return trailers;
    }
  }

  /** The handler's own details come first. */
  private static Metadata withReason(Status status, Metadata trailers) {
    Metadata own = new Metadata();
    own.merge(trailers);
    com.google.rpc.Status told =
        StatusProto.fromStatusAndTrailers(status, trailers).toBuilder()
            .addDetails(
                Any.pack(
                    ErrorInfo.newBuilder()
                        .setReason(RefusalReason.IDEMPOTENCY_RESOURCE_GONE.name())
                        .setDomain(WireNames.ERROR_DOMAIN)
                        .build()))
            .build();
    Metadata all = StatusProto.toStatusRuntimeException(told, own).getTrailers();
    return all == null ? trailers : all;
  }
}
