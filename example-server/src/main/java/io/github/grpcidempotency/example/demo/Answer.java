package io.github.grpcidempotency.example.demo;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.example.organization.v1.Project;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.List;
import java.util.Optional;

/** What came back of one CreateProject. */
record Answer(
    Status status, Optional<Project> project, Optional<ErrorInfo> error, Metadata trailers) {

  static Answer of(Project project, Metadata trailers) {
    return new Answer(Status.OK, Optional.of(project), Optional.empty(), trailers);
  }

  static Answer of(StatusRuntimeException failure) {
    Metadata trailers = Optional.ofNullable(failure.getTrailers()).orElseGet(Metadata::new);
    return new Answer(failure.getStatus(), Optional.empty(), errorInfo(failure), trailers);
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

  Optional<String> id() {
    return project.map(Project::getId);
  }

  boolean hasSameIdAs(Answer other) {
    return isOk() && id().equals(other.id());
  }

  boolean isReplayed() {
    return "true".equals(trailers.get(IdempotencyMetadata.REPLAYED));
  }

  String idempotencyStatus() {
    return String.valueOf(trailers.get(IdempotencyMetadata.STATUS));
  }

  String reason() {
    return error.map(ErrorInfo::getReason).orElse("");
  }

  /** In the words of the wire. */
  @Override
  public String toString() {
    return project
        .map(
            created ->
                "project %s, idempotency-status: %s%s"
                    .formatted(
                        created.getId(),
                        idempotencyStatus(),
                        isReplayed() ? ", idempotency-replayed: true" : ""))
        .orElseGet(
            () ->
                "%s%s: %s"
                    .formatted(
                        status.getCode(),
                        error.map(info -> ", reason " + info.getReason()).orElse(""),
                        status.getDescription()));
  }
}
