package io.github.grpcidempotency.client;

import static io.github.grpcidempotency.proto.WireNames.ERROR_DOMAIN;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The details of an error in {@code google.rpc.Status}, from its trailers. */
record ErrorDetails(List<Any> details) {
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
  private static final String OPERATION = "operation";
  private static final int NANOS_PER_SECOND = 1_000_000_000;

  static ErrorDetails of(Metadata trailers) {
    byte[] bytes = trailers.get(DETAILS);
    if (bytes == null) {
      return new ErrorDetails(List.of());
    }
    try {
      return new ErrorDetails(com.google.rpc.Status.parseFrom(bytes).getDetailsList());
    } catch (InvalidProtocolBufferException malformed) {
      return new ErrorDetails(List.of());
    }
  }

  /** Returns the reason of an error of the library; empty for other errors. */
  Optional<String> reason() {
    return info().map(ErrorInfo::getReason);
  }

  /** Returns the operation of an error of the library. */
  Optional<UUID> operationId() {
    return info().map(info -> info.getMetadataMap().get(OPERATION)).flatMap(Reply::uuid);
  }

  /**
   * Returns when to retry. A negative delay, or one whose nanoseconds are out of range, is ignored.
   */
  Optional<Duration> retryDelay() {
    return detail(RetryInfo.class)
        .filter(RetryInfo::hasRetryDelay)
        .map(RetryInfo::getRetryDelay)
        .filter(
            delay ->
                delay.getSeconds() >= 0
                    && delay.getNanos() >= 0
                    && delay.getNanos() < NANOS_PER_SECOND)
        .map(delay -> Duration.ofSeconds(delay.getSeconds(), delay.getNanos()));
  }

  private Optional<ErrorInfo> info() {
    return detail(ErrorInfo.class).filter(info -> info.getDomain().equals(ERROR_DOMAIN));
  }

  private <D extends Message> Optional<D> detail(Class<D> type) {
    return details.stream().filter(any -> any.is(type)).findFirst().flatMap(any -> as(type, any));
  }

  private static <D extends Message> Optional<D> as(Class<D> type, Any any) {
    try {
      return Optional.of(any.unpack(type));
    } catch (InvalidProtocolBufferException malformed) {
      return Optional.empty();
    }
  }
}
