package io.github.grpcidempotency.internal.service;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.rpc.Status;
import io.github.grpcidempotency.internal.schema.MethodSchema;
import io.github.grpcidempotency.internal.wire.TerminalError;
import io.github.grpcidempotency.procedure.Procedure;
import io.grpc.protobuf.StatusProto;
import java.util.Optional;

/** Converts a recorded answer to a message that can be part of another response. */
final class RecordedAnswer {
  private RecordedAnswer() {}

  /**
   * Returns whether a procedure's responses can be converted, for which their message type must be
   * known.
   */
  static boolean isReadable(Procedure procedure) {
    return responseType(procedure).isPresent();
  }

  static Any response(Procedure procedure, ByteString bytes) {
    return Any.newBuilder()
        .setTypeUrl(
            "type.googleapis.com/"
                + responseType(procedure).map(Descriptor::getFullName).orElseThrow())
        .setValue(bytes)
        .build();
  }

  /** Returns a recorded error, with its details. */
  static Status error(ByteString bytes) {
    TerminalError error = TerminalError.of(bytes);
    return StatusProto.fromStatusAndTrailers(error.status(), error.trailers());
  }

  private static Optional<Descriptor> responseType(Procedure procedure) {
    return procedure.method().flatMap(MethodSchema::response);
  }
}
