package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.v1.Project;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.Optional;

/**
 * The result of a call.
 *
 * @param project the response, if the status is OK
 */
public record Reply(Status status, Metadata trailers, Optional<Project> project) {
  /** Returns whether the call succeeded. */
  public boolean isOk() {
    return status.isOk();
  }
}
