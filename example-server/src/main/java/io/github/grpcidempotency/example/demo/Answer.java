package io.github.grpcidempotency.example.demo;

import com.google.protobuf.Any;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What came back from one call.
 *
 * @param reason the library's reason, if it refused the call; empty otherwise
 */
record Answer(Status status, Optional<Message> response, String reason, Metadata trailers) {

  static Answer of(Message response, Metadata trailers) {
    return new Answer(Status.OK, Optional.of(response), "", trailers);
  }

  /** Returns what a call has waited for. */
  static Answer of(Reply<? extends Message> reply) {
    Metadata trailers = new Metadata();
    reply
        .status()
        .ifPresent(
            status ->
                trailers.put(IdempotencyMetadata.STATUS, status.name().toLowerCase(Locale.ROOT)));
    return of(reply.response(), trailers);
  }

  static Answer of(StatusRuntimeException failure) {
    Metadata trailers = Optional.ofNullable(failure.getTrailers()).orElseGet(Metadata::new);
    return new Answer(failure.getStatus(), Optional.empty(), reason(failure), trailers);
  }

  private static String reason(StatusRuntimeException failure) {
    com.google.rpc.Status rich = StatusProto.fromThrowable(failure);
    List<Any> details = rich == null ? List.of() : rich.getDetailsList();
    return details.stream()
        .filter(detail -> detail.is(ErrorInfo.class))
        .map(Answer::reason)
        .findFirst()
        .orElse("");
  }

  private static String reason(Any errorInfo) {
    try {
      return errorInfo.unpack(ErrorInfo.class).getReason();
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalArgumentException("the server sent a broken ErrorInfo", e);
    }
  }

  boolean isOk() {
    return status.isOk();
  }

  /** Returns the response, which must be of this type. */
  <T extends Message> T as(Class<T> type) {
    return response
        .map(type::cast)
        .orElseThrow(() -> new IllegalStateException("there was no answer, but " + this));
  }

  boolean isSameAs(Answer other) {
    return isOk() && response.equals(other.response);
  }

  boolean isRefused(Status.Code code, String because) {
    return status.getCode() == code && reason.equals(because);
  }

  boolean isReplayed() {
    return "true".equals(trailers.get(IdempotencyMetadata.REPLAYED));
  }

  String idempotencyStatus() {
    return trailer(IdempotencyMetadata.STATUS).orElse("");
  }

  /** Returns the response fields that a replay lacks. */
  String omitted() {
    return trailer(IdempotencyMetadata.OMITTED).orElse("");
  }

  /** Returns until when retries of the call are answered. */
  Instant expires() {
    return trailer(IdempotencyMetadata.EXPIRES).map(Instant::parse).orElse(Instant.MIN);
  }

  private Optional<String> trailer(Metadata.Key<String> key) {
    return Optional.ofNullable(trailers.get(key));
  }

  /** Uses the names that are on the wire. */
  @Override
  public String toString() {
    return response
        .map(this::withTrailers)
        .orElseGet(
            () ->
                "%s%s: %s"
                    .formatted(
                        status.getCode(),
                        reason.isEmpty() ? "" : ", reason " + reason,
                        status.getDescription()));
  }

  private String withTrailers(Message message) {
    Stream<String> fields =
        message.getAllFields().entrySet().stream()
            .map(field -> told(field.getKey(), field.getValue()));
    Stream<String> more =
        Stream.of(
                IdempotencyMetadata.STATUS,
                IdempotencyMetadata.REPLAYED,
                IdempotencyMetadata.OMITTED)
            .flatMap(key -> trailer(key).map(value -> key.name() + ": " + value).stream());
    return Stream.concat(fields, more).collect(Collectors.joining(", "));
  }

  /** Describes a resource by its id, a list by its length, and a secret by its first characters. */
  private static String told(FieldDescriptor field, Object value) {
    if (value instanceof List<?> elements) {
      return "%d %s".formatted(elements.size(), field.getName());
    }
    if (value instanceof Message resource) {
      FieldDescriptor id = field.getMessageType().findFieldByName("id");
      return "%s %s".formatted(field.getName().replace('_', ' '), resource.getField(id));
    }
    return "%s %.12s...".formatted(field.getName(), value);
  }
}
