package io.github.grpcidempotency.client;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/** Keeps the trailers of one call, before the end of the call is reported to its caller. */
final class TrailersCapture implements ClientInterceptor {
  private volatile Metadata trailers = new Metadata();

  Metadata trailers() {
    return trailers;
  }

  @Override
  public <RequestT, ResponseT> ClientCall<RequestT, ResponseT> interceptCall(
      MethodDescriptor<RequestT, ResponseT> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      public void start(Listener<ResponseT> listener, Metadata headers) {
        super.start(
            new SimpleForwardingClientCallListener<>(listener) {
              @Override
              public void onClose(Status status, Metadata closing) {
                trailers = closing;
                super.onClose(status, closing);
              }
            },
            headers);
      }
    };
  }

  /** Completes a reply with a response that has arrived. */
  static <T> void complete(
      CompletableFuture<Reply<T>> reply,
      ListenableFuture<T> response,
      Supplier<Metadata> trailers) {
    try {
      reply.complete(Reply.of(response.get(), trailers.get()));
    } catch (ExecutionException failure) {
      reply.completeExceptionally(Optional.ofNullable(failure.getCause()).orElse(failure));
    } catch (InterruptedException impossible) {
      Thread.currentThread().interrupt();
      reply.completeExceptionally(impossible);
    } catch (RuntimeException cancelled) {
      reply.completeExceptionally(cancelled);
    }
  }
}
