package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Optional;
import java.util.function.Consumer;

/** Calls a server without a thread of its own per call: the transport's threads call back. */
public final class Client implements AutoCloseable {
  private static final Metadata.Key<String> RETRY =
      Metadata.Key.of(WireNames.RETRY, Metadata.ASCII_STRING_MARSHALLER);

  private final ManagedChannel channel;

  /** Connects to a server on this machine when it is first used. */
  public Client(int port) {
    this.channel =
        Grpc.newChannelBuilderForAddress("localhost", port, InsecureChannelCredentials.create())
            .directExecutor()
            .build();
  }

  /** Begins a call, and passes its result to {@code done}, which must not block. */
  public void call(
      MethodDescriptor<CreateProjectRequest, Project> method,
      Optional<String> key,
      CreateProjectRequest request,
      Consumer<Reply> done) {
    Metadata headers = new Metadata();
    key.ifPresent(present -> headers.put(IdempotencyMetadata.KEY, present));
    call(method, headers, request, done);
  }

  /** Begins a call that announces itself as a retry. */
  public void retry(
      MethodDescriptor<CreateProjectRequest, Project> method,
      String key,
      CreateProjectRequest request,
      Consumer<Reply> done) {
    Metadata headers = new Metadata();
    headers.put(IdempotencyMetadata.KEY, key);
    headers.put(RETRY, "true");
    call(method, headers, request, done);
  }

  private void call(
      MethodDescriptor<CreateProjectRequest, Project> method,
      Metadata headers,
      CreateProjectRequest request,
      Consumer<Reply> done) {
    ClientCall<CreateProjectRequest, Project> call = channel.newCall(method, CallOptions.DEFAULT);
    call.start(new ReplyListener(done), headers);
    call.request(2);
    call.sendMessage(request);
    call.halfClose();
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }

  /** Waits for the end of one call. */
  private static final class ReplyListener extends ClientCall.Listener<Project> {
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
}
