package io.github.grpcidempotency.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** One attempt of a unary call: one logical gRPC call. */
final class Attempt<RequestT, T> extends ClientCall.Listener<T> {
  private final StreamCounter streams;
  private final CompletableFuture<AttemptResult<T>> result = new CompletableFuture<>();
  private final ClientCall<RequestT, T> call;
  private Optional<T> response = Optional.empty();

  private Attempt(StreamCounter streams, ClientCall<RequestT, T> call) {
    this.streams = streams;
    this.call = call;
  }

  /** Starts an attempt. Its result completes normally even if the call fails. */
  static <RequestT, T> Attempt<RequestT, T> start(
      Channel channel,
      MethodDescriptor<RequestT, T> method,
      CallOptions options,
      RequestT request) {
    StreamCounter streams = new StreamCounter();
    Attempt<RequestT, T> attempt =
        new Attempt<>(streams, channel.newCall(method, options.withStreamTracerFactory(streams)));
    attempt.send(request);
    return attempt;
  }

  CompletableFuture<AttemptResult<T>> result() {
    return result;
  }

  void cancel() {
    call.cancel("the caller cancelled the call", null);
  }

  private void send(RequestT request) {
    try {
      call.start(this, new Metadata());
      call.request(2); // two, to detect a second message, which would be illegal
      call.sendMessage(request);
      call.halfClose();
    } catch (Throwable defect) {
      call.cancel("the call could not be sent", defect);
      close(Status.INTERNAL.withDescription("the call could not be sent").withCause(defect));
    }
  }

  @Override
  public void onMessage(T message) {
    if (response.isPresent()) {
      call.cancel("more than one response", null);
      close(Status.INTERNAL.withDescription("more than one response to a unary call"));
    }
    response = Optional.of(message);
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    if (!status.isOk()) {
      result.complete(new AttemptResult<>(status, trailers, Optional.empty(), streams.count()));
    } else if (response.isEmpty()) {
      close(Status.INTERNAL.withDescription("no response to a unary call"));
    } else {
      result.complete(new AttemptResult<>(status, trailers, response, streams.count()));
    }
  }

  private void close(Status status) {
    result.complete(new AttemptResult<>(status, new Metadata(), Optional.empty(), streams.count()));
  }
}
