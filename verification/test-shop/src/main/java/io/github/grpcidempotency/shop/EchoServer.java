package io.github.grpcidempotency.shop;

import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.function.UnaryOperator;

/**
 * A server on loopback without the library. It keeps what it gets, and answers as a test wants: by
 * default with what it got.
 */
public final class EchoServer implements AutoCloseable {
  /** One call as it came. */
  public record Seen(Metadata headers, OrderRequest request) {
    public Optional<String> header(String name) {
      return Optional.ofNullable(
          headers.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER)));
    }

    public Optional<String> key() {
      return header("idempotency-key");
    }

    /** Returns whether the call says that it is a retry, as it says it. */
    public String hint() {
      return header(WireNames.RETRY).orElse("none");
    }
  }

  /** What a call gets instead of its echo. Without a status it gets no answer at all. */
  public record Answer(Optional<Status> status, Metadata trailers) {
    public static Answer of(Status status) {
      return new Answer(Optional.of(status), new Metadata());
    }

    public static Answer none() {
      return new Answer(Optional.empty(), new Metadata());
    }

    public Answer with(String trailer, String value) {
      trailers.put(Metadata.Key.of(trailer, Metadata.ASCII_STRING_MARSHALLER), value);
      return this;
    }
  }

  private final List<Seen> seen = new CopyOnWriteArrayList<>();
  private final LinkedBlockingDeque<Answer> answers = new LinkedBlockingDeque<>();
  private final Server server;
  private final List<ManagedChannel> channels = new ArrayList<>();

  public EchoServer() {
    this(0);
  }

  public EchoServer(int port) {
    ServerServiceDefinition.Builder service =
        ServerServiceDefinition.builder(OrderServiceGrpc.getServiceDescriptor());
    for (MethodDescriptor<?, ?> method : OrderServiceGrpc.getServiceDescriptor().getMethods()) {
      addMethod(service, method);
    }
    try {
      server =
          NettyServerBuilder.forAddress(
                  new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
              .addService(service.build())
              .intercept(new Recorder())
              .build()
              .start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns a method of the service by its name. */
  @SuppressWarnings("unchecked") // all methods of the service have these types
  public static MethodDescriptor<OrderRequest, Order> method(String name) {
    return (MethodDescriptor<OrderRequest, Order>)
        OrderServiceGrpc.getServiceDescriptor().getMethods().stream()
            .filter(method -> name.equals(method.getBareMethodName()))
            .findFirst()
            .orElseThrow();
  }

  public int port() {
    return server.getPort();
  }

  /** Answers the next calls so, in this order. */
  public EchoServer answering(Answer... next) {
    answers.addAll(List.of(next));
    return this;
  }

  public List<Seen> seen() {
    return List.copyOf(seen);
  }

  /** Opens a channel, closed with the server. */
  public ManagedChannel channel(UnaryOperator<NettyChannelBuilder> settings) {
    ManagedChannel channel =
        settings.apply(NettyChannelBuilder.forAddress("localhost", port()).usePlaintext()).build();
    channels.add(channel);
    return channel;
  }

  /** Opens a channel to where nobody listens. */
  public static ManagedChannel toNowhere() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      return NettyChannelBuilder.forAddress("localhost", free.getLocalPort())
          .usePlaintext()
          .build();
    }
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    server.shutdownNow();
  }

  @SuppressWarnings("unchecked") // all methods of the service have these types
  private void addMethod(ServerServiceDefinition.Builder service, MethodDescriptor<?, ?> method) {
    service.addMethod(
        (MethodDescriptor<OrderRequest, Order>) method,
        method.getType() == MethodDescriptor.MethodType.UNARY
            ? ServerCalls.asyncUnaryCall(this::answer)
            : ServerCalls.asyncServerStreamingCall(this::answer));
  }

  private void answer(OrderRequest request, StreamObserver<Order> observer) {
    seen.add(new Seen(Recorder.HEADERS.get(), request));
    Answer answer = answers.poll();
    if (answer == null) {
      observer.onNext(Order.newBuilder().setName(request.getName()).build());
      observer.onCompleted();
    } else if (answer.status().isPresent()) {
      observer.onError(answer.status().get().asRuntimeException(answer.trailers()));
    }
  }

  private static final class Recorder implements ServerInterceptor {
    static final Context.Key<Metadata> HEADERS = Context.key("headers");

    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      return Contexts.interceptCall(
          Context.current().withValue(HEADERS, headers), call, headers, next);
    }
  }
}
