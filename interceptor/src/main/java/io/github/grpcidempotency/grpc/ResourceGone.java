package io.github.grpcidempotency.grpc;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.procedure.PastResources;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.util.Optional;

/**
 * Adds a reason to the error of a delete that did not find its resource, if the procedure knows
 * that the resource once existed. This is the equivalent of HTTP's 410.
 */
final class ResourceGone {
  private ResourceGone() {}

  /**
   * Returns the trailers of a handler's error, with the reason added if the resource that the
   * request names once existed, and unchanged otherwise. Never throws.
   */
  static Metadata explain(
      Status status, Metadata trailers, KeyedRequest request, RateLimitedLog log) {
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
          procedure.name()
              + ": could not check whether the resource that a delete did not find had existed");
      return trailers;
    }
  }

  /** Appends the reason to the handler's own details. */
  private static Metadata withReason(Status status, Metadata trailers) {
    Metadata own = new Metadata();
    own.merge(trailers);
    com.google.rpc.Status explained =
        StatusProto.fromStatusAndTrailers(status, trailers).toBuilder()
            .addDetails(
                Any.pack(
                    ErrorInfo.newBuilder()
                        .setReason(RefusalReason.IDEMPOTENCY_RESOURCE_GONE.name())
                        .setDomain(WireNames.ERROR_DOMAIN)
                        .build()))
            .build();
    Metadata all = StatusProto.toStatusRuntimeException(explained, own).getTrailers();
    return all == null ? trailers : all;
  }
}
