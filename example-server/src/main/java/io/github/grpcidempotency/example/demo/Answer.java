package io.github.grpcidempotency.example.demo;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The result of one call.
 *
 * @param reason the library's reason, if it refused the call; empty otherwise
 */
record Answer(Status status, Optional<Message> response, String reason, Metadata trailers) {

  static Answer of(Message response, Metadata trailers) {
    return new Answer(Status.OK, Optional.of(response), "", trailers);
  }

  static Answer of(StatusRuntimeException failure) {
    Metadata trailers = Optional.ofNullable(failure.getTrailers()).orElseGet(Metadata::new);
    return new Answer(failure.getStatus(), Optional.empty(), reason(failure), trailers);
  }

  private static String reason(StatusRuntimeException failure) {
    com.google.rpc.Status rich = StatusProto.fromThrowable(failure);
    if (rich != null && rich.getDetailsCount() > 0 && rich.getDetails(0).is(ErrorInfo.class)) {
      try {
        return rich.getDetails(0).unpack(ErrorInfo.class).getReason();
      } catch (InvalidProtocolBufferException e) {
        throw new IllegalArgumentException("the server sent a broken ErrorInfo", e);
      }
    }
    return "";
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

  boolean isFirst() {
    return isOk() && !isReplayed();
  }

  boolean isReplayOf(Answer first) {
    return isOk() && isReplayed() && response.equals(first.response);
  }

  boolean isReplayed() {
    return trailer(IdempotencyMetadata.REPLAYED).equals("true");
  }

  boolean isRefused(Status.Code code, String because) {
    return status.getCode() == code && reason.equals(because);
  }

  String trailer(Metadata.Key<String> key) {
    return Optional.ofNullable(trailers.get(key)).orElse("");
  }

  /** Uses the enum's names, as on the wire. */
  @Override
  public String toString() {
    if (response.isEmpty()) {
      String because = reason.isEmpty() ? "" : ", reason " + reason;
      return "%s%s: %s".formatted(status.getCode(), because, status.getDescription());
    }
    Stream<String> fields =
        response.get().getAllFields().entrySet().stream()
            .map(
                field ->
                    field.getKey().getName() + " " + summary(field.getKey(), field.getValue()));
    Stream<String> more =
        Stream.of(
                IdempotencyMetadata.STATUS,
                IdempotencyMetadata.REPLAYED,
                IdempotencyMetadata.OMITTED)
            .filter(key -> !trailer(key).isEmpty())
            .map(key -> key.name() + ": " + trailer(key));
    return Stream.concat(fields, more).collect(Collectors.joining(", "));
  }

  /** Describes a resource by its id, a list by its length, and a secret by its first characters. */
  private static String summary(FieldDescriptor field, Object value) {
    if (value instanceof List<?> elements) {
      return "(%d)".formatted(elements.size());
    }
    if (value instanceof Message resource) {
      return field.getMessageType().getFields().stream()
          .filter(part -> part.getName().equals("id"))
          .map(id -> String.valueOf(resource.getField(id)))
          .findFirst()
          .orElse("...");
    }
    return "%.12s...".formatted(value);
  }
}
