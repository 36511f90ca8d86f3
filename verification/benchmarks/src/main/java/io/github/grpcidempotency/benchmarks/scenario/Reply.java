package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.v1.Project;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;

/**
 * The result of a call.
 *
 * @param project the response, if the status is OK
 */
public record Reply(Status status, Metadata trailers, Optional<Project> project) {
  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);

  /** Returns whether the call succeeded. */
  public boolean isOk() {
    return status.isOk();
  }

  /** Returns when the server wants the retry; empty if it wants none, or does not say. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(trailers.get(PUSHBACK))
        .map(Long::parseLong)
        .filter(millis -> millis >= 0)
        .map(Duration::ofMillis);
  }
}
