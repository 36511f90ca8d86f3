package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** A client with retries: repeats a call as the server requests, until the call succeeds. */
public final class PersistentCaller implements AutoCloseable {
  private final Client client;
  private final MethodDescriptor<CreateProjectRequest, Project> method;
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

  /** Creates a caller of one method. */
  public PersistentCaller(Client client, MethodDescriptor<CreateProjectRequest, Project> method) {
    this.client = client;
    this.method = method;
  }

  /** Calls until there is an answer; fails on an error that a retry cannot solve. */
  public CompletableFuture<Project> call(String key, CreateProjectRequest request) {
    CompletableFuture<Project> answer = new CompletableFuture<>();
    attempt(key, request, answer);
    return answer;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  private void attempt(
      String key, CreateProjectRequest request, CompletableFuture<Project> answer) {
    client.call(
        method,
        Optional.of(key),
        request,
        reply -> {
          Optional<Duration> pause = reply.retryAfter();
          if (reply.project().isPresent()) {
            answer.complete(reply.project().get());
          } else if (pause.isPresent()) {
            ScheduledFuture<?> unused =
                timer.schedule(
                    () -> attempt(key, request, answer),
                    pause.get().toMillis(),
                    TimeUnit.MILLISECONDS);
          } else {
            answer.completeExceptionally(reply.status().asRuntimeException());
          }
        });
  }
}
