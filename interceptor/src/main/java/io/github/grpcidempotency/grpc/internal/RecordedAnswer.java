package io.github.grpcidempotency.grpc.internal;

import com.google.protobuf.Any;
import com.google.protobuf.Descriptors.Descriptor;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.internal.MethodSchema;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.WorkStatus;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.grpc.protobuf.StatusProto;
import java.util.Optional;
import java.util.TreeSet;

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

  /** Returns a recorded response with its status, or a recorded error with its details. */
  static RecoverResponse.Builder of(Procedure procedure, Replay replay) {
    RecoverResponse.Builder answer = RecoverResponse.newBuilder();
    if (replay instanceof Replay.Response message) {
      return answer
          .setResponse(
              Any.newBuilder()
                  .setTypeUrl(
                      "type.googleapis.com/"
                          + responseType(procedure).map(Descriptor::getFullName).orElseThrow())
                  .setValue(message.bytes()))
          .setWorkStatus(
              message
                  .status()
                  .map(RecordedAnswer::statusOf)
                  .orElse(WorkStatus.WORK_STATUS_UNSPECIFIED))
          .addAllOmittedFields(new TreeSet<>(message.omitted()))
          .setReconstructed(message.reconstructed());
    }
    TerminalError error = TerminalError.of(replay.bytes());
    return answer.setError(StatusProto.fromStatusAndTrailers(error.status(), error.trailers()));
  }

  private static WorkStatus statusOf(IdempotencyStatus status) {
    return switch (status) {
      case PROCESSING -> WorkStatus.WORK_STATUS_PROCESSING;
      case COMPLETED -> WorkStatus.WORK_STATUS_COMPLETED;
      case FAILED -> WorkStatus.WORK_STATUS_FAILED;
    };
  }

  private static Optional<Descriptor> responseType(Procedure procedure) {
    return procedure.method().flatMap(MethodSchema::response);
  }
}
