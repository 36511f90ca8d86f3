package io.github.grpcidempotency.conformance;

import com.google.common.io.ByteStreams;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.conformance.v1.ConformanceGrpc;
import io.github.grpcidempotency.conformance.v1.ConformanceGrpc.ConformanceBlockingStub;
import io.github.grpcidempotency.conformance.v1.CountRequest;
import io.github.grpcidempotency.conformance.v1.CountResponse;
import io.github.grpcidempotency.conformance.v1.ReleaseRequest;
import io.github.grpcidempotency.conformance.v1.RunResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The server under test. */
final class Target implements AutoCloseable {
  private final ManagedChannel channel;
  private final Duration timeout;

  Target(String address, Duration timeout) {
    // gRPC's own retries would hide answers.
    this.channel = NettyChannelBuilder.forTarget(address).usePlaintext().disableRetry().build();
    this.timeout = timeout;
  }

  Duration timeout() {
    return timeout;
  }

  /** One call that was sent. */
  record Sent(
      String method, ClientCall<ByteString, RunResponse> call, CompletableFuture<Ending> end) {
    void cancel() {
      call.cancel("the case cancels the call", null);
    }
  }

  /** Sends a call. Its request is bytes, because some cases send bytes that no message has. */
  Sent send(String method, Metadata headers, ByteString request) {
    CompletableFuture<Ending> end = new CompletableFuture<>();
    ClientCall<ByteString, RunResponse> call =
        channel.newCall(
            method(method),
            CallOptions.DEFAULT.withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS));
    call.start(new Collector(end), headers);
    call.request(2);
    call.sendMessage(request);
    call.halfClose();
    return new Sent(method, call, end);
  }

  CountResponse count(String name) {
    return stub().count(CountRequest.newBuilder().setName(name).build());
  }

  void release(String name) {
    Object unused = stub().release(ReleaseRequest.newBuilder().setName(name).build());
  }

  private ConformanceBlockingStub stub() {
    return ConformanceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static MethodDescriptor<ByteString, RunResponse> method(String name) {
    return MethodDescriptor.<ByteString, RunResponse>newBuilder()
        .setType(MethodDescriptor.MethodType.UNARY)
        .setFullMethodName(
            MethodDescriptor.generateFullMethodName(ConformanceGrpc.SERVICE_NAME, name))
        .setRequestMarshaller(new Bytes())
        .setResponseMarshaller(ProtoUtils.marshaller(RunResponse.getDefaultInstance()))
        .build();
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }

  private static final class Collector extends ClientCall.Listener<RunResponse> {
    private final CompletableFuture<Ending> end;
    private Optional<Metadata> headers = Optional.empty();
    private Optional<RunResponse> message = Optional.empty();

    Collector(CompletableFuture<Ending> end) {
      this.end = end;
    }

    @Override
    public void onHeaders(Metadata received) {
      headers = Optional.of(received);
    }

    @Override
    public void onMessage(RunResponse received) {
      message = Optional.of(received);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      end.complete(new Ending(status, headers, message, trailers));
    }
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<ByteString> {
    @Override
    public InputStream stream(ByteString value) {
      return value.newInput();
    }

    @Override
    public ByteString parse(InputStream stream) {
      try {
        return ByteString.copyFrom(ByteStreams.toByteArray(stream));
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
  }
}
