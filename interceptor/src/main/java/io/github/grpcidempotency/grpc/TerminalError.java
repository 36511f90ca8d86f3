package io.github.grpcidempotency.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.proto.v1.RecordedError;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.grpc.Metadata;
import io.grpc.Status;

/** A terminal error between the wire and its record. */
record TerminalError(Status status, Metadata trailers) {
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  RecordedOutcome.Failure toRecord() {
    RecordedError.Builder error = RecordedError.newBuilder().setCode(status.getCode().value());
    if (status.getDescription() != null) {
      error.setMessage(status.getDescription());
    }
    byte[] details = trailers.get(DETAILS);
    if (details != null) {
      error.addTrailersBuilder().setName(DETAILS.name()).setValue(ByteString.copyFrom(details));
    }
    return new RecordedOutcome.Failure(error.build().toByteString());
  }

  static TerminalError of(RecordedOutcome.Failure recorded) {
    RecordedError error = parse(recorded);
    Status status = Status.fromCodeValue(error.getCode());
    Metadata trailers = new Metadata();
    for (RecordedError.Trailer trailer : error.getTrailersList()) {
      trailers.put(DETAILS, trailer.getValue().toByteArray());
    }
    return new TerminalError(
        error.getMessage().isEmpty() ? status : status.withDescription(error.getMessage()),
        trailers);
  }

  private static RecordedError parse(RecordedOutcome.Failure recorded) {
    try {
      return RecordedError.parseFrom(recorded.bytes());
    } catch (InvalidProtocolBufferException damaged) {
      throw new IllegalStateException("a recorded error cannot be read", damaged);
    }
  }
}
