package io.github.grpcidempotency.conformance;

import com.google.common.io.ByteStreams;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.github.grpcidempotency.conformance.v1.ConformanceGrpc;
import io.github.grpcidempotency.conformance.v1.ConformanceGrpc.ConformanceBlockingStub;
import io.github.grpcidempotency.conformance.v1.CountRequest;
import io.github.grpcidempotency.conformance.v1.CountResponse;
import io.github.grpcidempotency.conformance.v1.ReleaseRequest;
import io.github.grpcidempotency.conformance.v1.RunResponse;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
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
  static final String RECOVER = "Recover";

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
  record Sent(String method, ClientCall<?, ?> call, CompletableFuture<Ending> end) {
    void cancel() {
      call.cancel("the case cancels the call", null);
    }
  }

  /** Sends a call. Its request is bytes, because some cases send bytes that no message has. */
  Sent send(String method, Metadata headers, ByteString request) {
    return send(
        method,
        MethodDescriptor.generateFullMethodName(ConformanceGrpc.SERVICE_NAME, method),
        RunResponse.getDefaultInstance(),
        headers,
        request);
  }

  /** Sends a call of Recovery. */
  Sent recover(Metadata headers, RecoverRequest request) {
    return send(
        RECOVER,
        RecoveryGrpc.getRecoverMethod().getFullMethodName(),
        RecoverResponse.getDefaultInstance(),
        headers,
        request.toByteString());
  }

  private <T extends Message> Sent send(
      String name, String fullName, T response, Metadata headers, ByteString request) {
    CompletableFuture<Ending> end = new CompletableFuture<>();
    ClientCall<ByteString, T> call =
        channel.newCall(
            MethodDescriptor.<ByteString, T>newBuilder()
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(fullName)
                .setRequestMarshaller(new Bytes())
                .setResponseMarshaller(ProtoUtils.marshaller(response))
                .build(),
            CallOptions.DEFAULT.withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS));
    call.start(new Collector<>(end), headers);
    call.request(2);
    call.sendMessage(request);
    call.halfClose();
    return new Sent(name, call, end);
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

  @Override
  public void close() {
    channel.shutdownNow();
  }

  private static final class Collector<T extends Message> extends ClientCall.Listener<T> {
    private final CompletableFuture<Ending> end;
    private Optional<Metadata> headers = Optional.empty();
    private Optional<Message> message = Optional.empty();

    Collector(CompletableFuture<Ending> end) {
      this.end = end;
    }

    @Override
    public void onHeaders(Metadata received) {
      headers = Optional.of(received);
    }

    @Override
    public void onMessage(T received) {
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
