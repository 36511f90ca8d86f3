package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.Durations;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.github.grpcidempotency.grpc.internal.WireMetadata;
import io.github.grpcidempotency.testing.v1.Thing;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a client saw of a call. */
record Seen(Status status, List<Metadata> headers, List<ByteString> messages, Metadata trailers) {
  static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  Status.Code code() {
    return status.getCode();
  }

  Thing thing() {
    assertThat(messages).as("messages of %s", status).hasSize(1);
    return parse(messages.get(0));
  }

  Optional<String> trailer(Metadata.Key<String> key) {
    return Optional.ofNullable(trailers.get(key));
  }

  boolean isReplayed() {
    return trailer(IdempotencyMetadata.REPLAYED).filter("true"::equals).isPresent();
  }

  /** Asserts that it is a first answer. */
  Seen first() {
    assertThat(code()).as("%s", status).isEqualTo(Status.Code.OK);
    assertThat(trailer(IdempotencyMetadata.OPERATION)).isPresent();
    assertThat(trailer(IdempotencyMetadata.REPLAYED)).isEmpty();
    return this;
  }

  /** Asserts that it is the replay of an answer. */
  void replays(Seen first) {
    assertThat(code()).as("%s", status).isEqualTo(Status.Code.OK);
    assertThat(isReplayed()).isTrue();
    assertThat(messages).isEqualTo(first.messages);
    assertThat(trailer(IdempotencyMetadata.OPERATION))
        .isEqualTo(first.trailer(IdempotencyMetadata.OPERATION));
    assertThat(trailer(IdempotencyMetadata.EXPIRES))
        .isEqualTo(first.trailer(IdempotencyMetadata.EXPIRES));
  }

  /** Asserts that the interceptor had no part in it. */
  void untouched() {
    assertThat(code()).as("%s", status).isEqualTo(Status.Code.OK);
    assertThat(trailers.keys()).noneMatch(name -> name.startsWith("idempotency-"));
  }

  /** Asserts that it is a refusal of the wire contract, and returns it for more. */
  Seen refused(Status.Code code, String reason) {
    assertThat(code()).as("%s", status).isEqualTo(code);
    assertThat(headers).as("headers ahead of an error").isEmpty();
    assertThat(messages).isEmpty();
    ErrorInfo info = detail(ErrorInfo.class).orElseThrow();
    assertThat(info.getDomain()).isEqualTo("grpc-idempotency");
    assertThat(info.getReason()).isEqualTo(reason);
    return this;
  }

  /** Asserts that trying again is pointless. */
  Seen forGood() {
    assertThat(trailer(WireMetadata.PUSHBACK)).contains("-1");
    assertThat(detail(RetryInfo.class)).isEmpty();
    return this;
  }

  /** Asserts that the client may try again, and returns when. */
  Duration retryAfter() {
    RetryInfo info = detail(RetryInfo.class).orElseThrow();
    long millis = Durations.toMillis(info.getRetryDelay());
    assertThat(trailer(WireMetadata.PUSHBACK)).contains(String.valueOf(millis));
    return Duration.ofMillis(millis);
  }

  <T extends Message> Optional<T> detail(Class<T> type) {
    return details().stream().filter(any -> any.is(type)).findFirst().map(any -> unpack(any, type));
  }

  /** Everything that reached the client, for what must not be in it. */
  String text() {
    List<String> parts = new ArrayList<>();
    parts.add(String.valueOf(status.getDescription()));
    details().forEach(any -> parts.add(any.getValue().toStringUtf8()));
    parts.add(trailers.toString());
    return String.join("\n", parts);
  }

  private List<Any> details() {
    com.google.rpc.Status rich = StatusProto.fromStatusAndTrailers(status, trailers);
    return rich == null ? List.of() : rich.getDetailsList();
  }

  private static Thing parse(ByteString bytes) {
    try {
      return Thing.parseFrom(bytes);
    } catch (InvalidProtocolBufferException damaged) {
      throw new AssertionError(damaged);
    }
  }

  private static <T extends Message> T unpack(Any any, Class<T> type) {
    try {
      return any.unpack(type);
    } catch (InvalidProtocolBufferException damaged) {
      throw new AssertionError(damaged);
    }
  }
}
