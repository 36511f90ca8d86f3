package io.github.grpcidempotency.benchmarks.load;

import io.github.grpcidempotency.benchmarks.v1.Project;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.Optional;
import java.util.function.Consumer;

/** Waits for the end of one call. */
final class ReplyListener extends ClientCall.Listener<Project> {
  private final Consumer<Reply> done;
  private Optional<Project> project = Optional.empty();

  ReplyListener(Consumer<Reply> done) {
    this.done = done;
  }

  @Override
  public void onMessage(Project message) {
    project = Optional.of(message);
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    done.accept(new Reply(status, trailers, project));
  }
}
