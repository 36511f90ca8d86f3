package io.github.grpcidempotency.example.demo;

import static java.util.stream.Collectors.joining;

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
import java.util.Set;
import java.util.stream.Stream;

/**
 * The result of one call.
 *
 * @param reason the library's reason, if it refused the call; empty otherwise
 */
record Answer(Status status, Optional<Message> response, String reason, Metadata trailers) {
  /** The fields of a resource that are printed. */
  private static final Set<String> PRINTED = Set.of("id", "machine");

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
        .orElseThrow(() -> new IllegalStateException("there was no answer, but " + summary()));
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

  boolean hasStatus(String expected) {
    return trailer(IdempotencyMetadata.STATUS).equals(expected);
  }

  String trailer(Metadata.Key<String> key) {
    return Optional.ofNullable(trailers.get(key)).orElse("");
  }

  /** Returns the code, and the resource of the response or the reason of the refusal. */
  String summary() {
    return Stream.concat(
            Stream.of(status.getCode().name(), reason).filter(part -> !part.isEmpty()),
            response.stream()
                .flatMap(message -> message.getAllFields().entrySet().stream())
                .filter(field -> field.getValue() instanceof Message)
                .map(field -> field.getKey().getName() + printed((Message) field.getValue()))
                .filter(part -> part.contains(" ")))
        .collect(joining(", "));
  }

  private static String printed(Message resource) {
    return resource.getAllFields().entrySet().stream()
        .filter(field -> PRINTED.contains(field.getKey().getName()))
        .map(field -> " " + brief(field.getValue()))
        .collect(joining());
  }

  /** Returns the description of an error, or the library's trailers, one a line. */
  List<String> details() {
    return isOk()
        ? Stream.of(IdempotencyMetadata.STATUS, IdempotencyMetadata.REPLAYED)
            .filter(key -> !trailer(key).isEmpty())
            .map(key -> key.name() + ": " + trailer(key))
            .toList()
        : List.of(String.valueOf(status.getDescription()));
  }

  /** Shortens the UUIDs of a text. */
  static String brief(Object text) {
    return text.toString().replaceAll("([0-9a-f]{4})[0-9a-f-]{28}([0-9a-f]{4})", "$1..$2");
  }
}
