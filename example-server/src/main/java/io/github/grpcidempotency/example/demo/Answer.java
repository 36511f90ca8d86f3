package io.github.grpcidempotency.example.demo;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What came back of one call.
 *
 * @param told the response in a few words
 */
record Answer(
    Status status,
    Optional<Message> response,
    String told,
    Optional<ErrorInfo> error,
    Metadata trailers) {

  static Answer of(Message response, String told, Metadata trailers) {
    return new Answer(Status.OK, Optional.of(response), told, Optional.empty(), trailers);
  }

  static Answer of(StatusRuntimeException failure) {
    Metadata trailers = Optional.ofNullable(failure.getTrailers()).orElseGet(Metadata::new);
    return new Answer(failure.getStatus(), Optional.empty(), "", errorInfo(failure), trailers);
  }

  private static Optional<ErrorInfo> errorInfo(StatusRuntimeException failure) {
    com.google.rpc.Status rich = StatusProto.fromThrowable(failure);
    List<Any> details = rich == null ? List.of() : rich.getDetailsList();
    return details.stream()
        .filter(detail -> detail.is(ErrorInfo.class))
        .map(Answer::unpack)
        .findFirst();
  }

  private static ErrorInfo unpack(Any detail) {
    try {
      return detail.unpack(ErrorInfo.class);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalArgumentException("the server sent a broken ErrorInfo", e);
    }
  }

  boolean isOk() {
    return status.isOk();
  }

  /** Returns the response, which is of that type. */
  <T extends Message> T as(Class<T> type) {
    return response
        .map(type::cast)
        .orElseThrow(() -> new IllegalStateException("there was no answer, but " + this));
  }

  boolean isSameAs(Answer other) {
    return isOk() && response.equals(other.response);
  }

  boolean isRefused(Status.Code code, String reason) {
    return status.getCode() == code && reason().equals(reason);
  }

  boolean isReplayed() {
    return "true".equals(trailers.get(IdempotencyMetadata.REPLAYED));
  }

  String idempotencyStatus() {
    return String.valueOf(trailers.get(IdempotencyMetadata.STATUS));
  }

  /** Returns the response fields that a replay lacks. */
  String omitted() {
    return Optional.ofNullable(trailers.get(IdempotencyMetadata.OMITTED)).orElse("");
  }

  /** Returns until when the call is answered again. */
  Instant expires() {
    return Optional.ofNullable(trailers.get(IdempotencyMetadata.EXPIRES))
        .map(Instant::parse)
        .orElse(Instant.MIN);
  }

  String reason() {
    return error.map(ErrorInfo::getReason).orElse("");
  }

  /** In the words of the wire. */
  @Override
  public String toString() {
    if (!isOk()) {
      return "%s%s: %s"
          .formatted(
              status.getCode(),
              error.map(info -> ", reason " + info.getReason()).orElse(""),
              status.getDescription());
    }
    return Stream.of(
            told,
            trailers.containsKey(IdempotencyMetadata.STATUS)
                ? "idempotency-status: " + idempotencyStatus()
                : "",
            isReplayed() ? "idempotency-replayed: true" : "",
            omitted().isEmpty() ? "" : "idempotency-omitted: " + omitted())
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining(", "));
  }
}
