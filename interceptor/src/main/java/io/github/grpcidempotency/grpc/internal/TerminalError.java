package io.github.grpcidempotency.grpc.internal;

import com.google.common.base.Strings;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.proto.v1.RecordedError;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

/**
 * A terminal error, which is sent and recorded unchanged.
 *
 * @param trailers the trailers that are sent with every replay
 */
public record TerminalError(Status status, Metadata trailers) {
  private static final String DETAILS = "grpc-status-details-bin";

  /** The maximum length of an encoded description in bytes. */
  private static final int MAX_DESCRIPTION = 4096;

  /**
   * Returns a status whose description is short enough for a replay: clients accept 8 KiB of
   * trailers by default, and a replay has one more than the first answer.
   */
  public static Status shortened(Status status) {
    String description = Strings.nullToEmpty(status.getDescription());
    int length = 0;
    for (int i = 0; i < description.length(); i = description.offsetByCodePoints(i, 1)) {
      length += encodedLength(description.codePointAt(i));
      if (length > MAX_DESCRIPTION) {
        return status.withDescription(description.substring(0, i) + "...");
      }
    }
    return status;
  }

  /** Returns the number of bytes of a character, which gRPC sends percent-encoded. */
  private static int encodedLength(int character) {
    boolean plain = character >= ' ' && character <= '~' && character != '%';
    return plain ? 1 : 3 * Character.toString(character).getBytes(StandardCharsets.UTF_8).length;
  }

  /** Returns the record of an error. */
  public static RecordedOutcome.Failure record(
      Status status, Metadata trailers, FailurePolicy policy) {
    RecordedError.Builder error = RecordedError.newBuilder().setCode(status.getCode().value());
    if (status.getDescription() != null) {
      error.setMessage(status.getDescription());
    }
    Stream.concat(Stream.of(DETAILS), policy.trailers().stream().sorted())
        .distinct()
        .forEach(name -> addTrailers(error, trailers, name));
    return new RecordedOutcome.Failure(error.build().toByteString());
  }

  public static TerminalError of(ByteString recorded) {
    RecordedError error = parse(recorded);
    Status status = Status.fromCodeValue(error.getCode());
    if (status.isOk() || status.getCode().value() != error.getCode()) {
      throw new IllegalStateException("a recorded error has code " + error.getCode());
    }
    Metadata trailers = new Metadata();
    for (RecordedError.Trailer trailer : error.getTrailersList()) {
      if (isBinary(trailer.getName())) {
        trailers.put(binary(trailer.getName()), trailer.getValue().toByteArray());
      } else {
        trailers.put(
            WireMetadata.ascii(trailer.getName()),
            trailer.getValue().toString(StandardCharsets.US_ASCII));
      }
    }
    return new TerminalError(
        error.hasMessage() ? status.withDescription(error.getMessage()) : status, trailers);
  }

  private static void addTrailers(RecordedError.Builder error, Metadata trailers, String name) {
    if (isBinary(name)) {
      Iterable<byte[]> values = trailers.getAll(binary(name));
      if (values != null) {
        values.forEach(value -> addTrailer(error, name, ByteString.copyFrom(value)));
      }
    } else {
      Iterable<String> values = trailers.getAll(WireMetadata.ascii(name));
      if (values != null) {
        values.forEach(
            value ->
                addTrailer(error, name, ByteString.copyFrom(value, StandardCharsets.US_ASCII)));
      }
    }
  }

  private static void addTrailer(RecordedError.Builder error, String name, ByteString value) {
    error.addTrailersBuilder().setName(name).setValue(value);
  }

  private static boolean isBinary(String name) {
    return name.endsWith(Metadata.BINARY_HEADER_SUFFIX);
  }

  private static Metadata.Key<byte[]> binary(String name) {
    return Metadata.Key.of(name, Metadata.BINARY_BYTE_MARSHALLER);
  }

  private static RecordedError parse(ByteString recorded) {
    try {
      return RecordedError.parseFrom(recorded);
    } catch (InvalidProtocolBufferException damaged) {
      throw new IllegalStateException("a recorded error cannot be read", damaged);
    }
  }
}
