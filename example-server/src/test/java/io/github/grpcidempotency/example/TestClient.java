package io.github.grpcidempotency.example;

import com.google.protobuf.Message;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Calls a server on this machine, as any user, and keeps the trailers. */
public final class TestClient implements AutoCloseable {
  private static final long DEADLINE_SECONDS = 20;

  private final ManagedChannel channel;

  public TestClient(int port) {
    this.channel =
        Grpc.newChannelBuilderForAddress("localhost", port, InsecureChannelCredentials.create())
            .build();
  }

  public Channel channel() {
    return channel;
  }

  public <RequestT extends Message, ResponseT extends Message> Reply<ResponseT> call(
      Metadata headers, MethodDescriptor<RequestT, ResponseT> method, RequestT request) {
    AtomicReference<Metadata> trailers = new AtomicReference<>(new Metadata());
    Channel intercepted =
        ClientInterceptors.intercept(
            channel,
            MetadataUtils.newAttachHeadersInterceptor(headers),
            MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers));
    ResponseT response =
        ClientCalls.blockingUnaryCall(
            intercepted,
            method,
            CallOptions.DEFAULT.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS),
            request);
    return new Reply<>(response, Objects.requireNonNull(trailers.get()));
  }

  /** A response and what came after it. */
  public record Reply<ResponseT>(ResponseT response, Metadata trailers) {
    public boolean isReplayed() {
      return "true".equals(trailers.get(IdempotencyMetadata.REPLAYED));
    }

    public String status() {
      return String.valueOf(trailers.get(IdempotencyMetadata.STATUS));
    }
  }

  public static Metadata nobody() {
    return new Metadata();
  }

  public static Metadata user(UUID user) {
    return with("authorization", "Bearer " + user, nobody());
  }

  public static Metadata with(String name, String value, Metadata headers) {
    Metadata more = new Metadata();
    more.merge(headers);
    more.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
    return more;
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
