package io.github.grpcidempotency.client;

import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.Any;
import com.google.protobuf.Timestamp;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.proto.v1.OperationMetadata;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server on loopback that answers at once and works on afterwards. It keeps the wire contract of
 * trailers and operations over a record in memory, which outlives a restart.
 */
final class WorkServer implements AutoCloseable {
  private static final Metadata.Key<String> KEY = ascii(WireNames.KEY);

  /** What is known of one key. */
  private static final class Work {
    final UUID id = UUID.randomUUID();
    final Instant expires = Instant.now().plus(Duration.ofHours(24));
    final Order order;
    final CompletableFuture<Reply.Status> ended = new CompletableFuture<>();

    Work(Order order) {
      this.order = order;
    }

    Reply.Status status() {
      return ended.getNow(Reply.Status.PROCESSING);
    }
  }

  /** One wait as it came. */
  record Wait(Metadata headers, WaitOperationRequest request, Duration deadline) {}

  private final Map<String, Work> works = new ConcurrentHashMap<>();
  private final List<Wait> waits = new CopyOnWriteArrayList<>();
  private final LinkedBlockingDeque<StatusRuntimeException> waitErrors =
      new LinkedBlockingDeque<>();
  private final LinkedBlockingDeque<StatusRuntimeException> callErrors =
      new LinkedBlockingDeque<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicInteger runs = new AtomicInteger();
  private final AtomicInteger calls = new AtomicInteger();
  private final List<ManagedChannel> channels = new ArrayList<>();
  private volatile boolean patient = true;
  private volatile boolean plainOperations;
  private volatile boolean silentOfOperations;
  private Server server;

  WorkServer() {
    this.server = start(0);
  }

  /** Answers waits at once, from now on. */
  WorkServer withoutPatience() {
    patient = false;
    return this;
  }

  /** Tells of operations without the library's metadata, as any server may. */
  WorkServer withPlainOperations() {
    plainOperations = true;
    return this;
  }

  /** Names operations no more. */
  WorkServer silentOfOperations() {
    silentOfOperations = true;
    return this;
  }

  /** Answers the next waits so. */
  WorkServer failingWaits(StatusRuntimeException... errors) {
    waitErrors.addAll(List.of(errors));
    return this;
  }

  /** Answers the next calls so, whatever is on record. */
  WorkServer failingCalls(Status... errors) {
    List.of(errors).forEach(error -> callErrors.add(error.asRuntimeException()));
    return this;
  }

  void restart() {
    int port = server.getPort();
    stop();
    server = start(port);
  }

  void stop() {
    server.shutdownNow();
    try {
      server.awaitTermination();
    } catch (InterruptedException interrupt) {
      throw new IllegalStateException(interrupt);
    }
  }

  /** Ends the work behind all answers. */
  void end(Reply.Status status) {
    works.values().forEach(work -> work.ended.complete(status));
  }

  List<Wait> waits() {
    return List.copyOf(waits);
  }

  /** Returns how many waits are served at the moment. */
  int waiting() {
    return waiting.get();
  }

  /** Returns how often the handler has run. */
  int runs() {
    return runs.get();
  }

  /** Returns how often it was called, replays included. */
  int calls() {
    return calls.get();
  }

  /** Opens a channel, closed with the server. */
  ManagedChannel channel() {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("localhost", server.getPort())
            .usePlaintext()
            .intercept(IdempotencyClientInterceptor.create())
            .build();
    channels.add(channel);
    return channel;
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    stop();
  }

  /** What the library says of an operation that it does not know, or not for this caller. */
  static StatusRuntimeException operationUnknown() {
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(Code.NOT_FOUND_VALUE)
            .addDetails(
                Any.pack(
                    ErrorInfo.newBuilder()
                        .setDomain(WireNames.ERROR_DOMAIN)
                        .setReason(WireNames.OPERATION_UNKNOWN)
                        .build()))
            .build());
  }

  private Server start(int port) {
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
            .addService(new Orders())
            .addService(new Operations())
            .intercept(new Exchange());
    try {
      return builder.build().start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private final class Orders extends OrderServiceGrpc.OrderServiceImplBase {
    @Override
    public void createOrder(OrderRequest request, StreamObserver<Order> observer) {
      calls.incrementAndGet();
      StatusRuntimeException error = callErrors.poll();
      if (error != null) {
        observer.onError(error);
        return;
      }
      String key = Optional.ofNullable(Exchange.HEADERS.get().get(KEY)).orElseThrow();
      Work before = works.get(key);
      Work work = before == null ? run(request) : before;
      works.put(key, work);
      Metadata trailers = Exchange.TRAILERS.get();
      trailers.put(ascii(WireNames.STATUS), work.status().name().toLowerCase(Locale.ROOT));
      if (!silentOfOperations) {
        trailers.put(ascii(WireNames.OPERATION), work.id.toString());
      }
      trailers.put(ascii(WireNames.EXPIRES), work.expires.toString());
      if (before != null) {
        trailers.put(ascii(WireNames.REPLAYED), "true");
      }
      observer.onNext(before == null ? work.order : work.order.toBuilder().clearSecret().build());
      observer.onCompleted();
    }

    private Work run(OrderRequest request) {
      Order order =
          Order.newBuilder()
              .setId(String.valueOf(runs.incrementAndGet()))
              .setName(request.getName())
              .setSecret("secret")
              .build();
      return new Work(order);
    }
  }

  private final class Operations extends OperationsGrpc.OperationsImplBase {
    @Override
    public void waitOperation(WaitOperationRequest request, StreamObserver<Operation> observer) {
      Duration left =
          Duration.ofMillis(
              Optional.ofNullable(Context.current().getDeadline())
                  .orElseThrow()
                  .timeRemaining(TimeUnit.MILLISECONDS));
      waits.add(new Wait(Exchange.HEADERS.get(), request, left));
      StatusRuntimeException error = waitErrors.poll();
      if (error != null) {
        observer.onError(error);
        return;
      }
      Optional<Work> work = find(request.getName());
      if (work.isEmpty() || !patient) {
        answer(request.getName(), observer);
        return;
      }
      long asked =
          TimeUnit.SECONDS.toMillis(request.getTimeout().getSeconds())
              + TimeUnit.NANOSECONDS.toMillis(request.getTimeout().getNanos());
      CompletableFuture<Reply.Status> waited = work.get().ended.copy();
      waiting.incrementAndGet();
      ((ServerCallStreamObserver<Operation>) observer)
          .setOnCancelHandler(() -> waited.cancel(false));
      CompletableFuture<Reply.Status> unused =
          waited
              .completeOnTimeout(
                  Reply.Status.PROCESSING,
                  Math.min(asked, left.toMillis() * 9 / 10),
                  TimeUnit.MILLISECONDS)
              .whenComplete(
                  (status, cancelled) -> {
                    waiting.decrementAndGet();
                    if (cancelled == null) {
                      answer(request.getName(), observer);
                    }
                  });
    }

    private void answer(String name, StreamObserver<Operation> observer) {
      Optional<Work> found = find(name);
      if (found.isEmpty()) {
        observer.onError(operationUnknown());
        return;
      }
      Work work = found.get();
      Operation.Builder operation = Operation.newBuilder().setName(name);
      if (!plainOperations) {
        operation.setMetadata(
            Any.pack(
                OperationMetadata.newBuilder()
                    .setState(OperationMetadata.State.valueOf("STATE_" + work.status()))
                    .setExpireTime(Timestamp.newBuilder().setSeconds(work.expires.getEpochSecond()))
                    .build()));
      }
      if (work.status() != Reply.Status.PROCESSING) {
        operation.setDone(true).setResponse(Any.pack(work.order));
        if (plainOperations && work.status() == Reply.Status.FAILED) {
          operation.setError(com.google.rpc.Status.newBuilder().setCode(Code.INTERNAL_VALUE));
        }
      }
      observer.onNext(operation.build());
      observer.onCompleted();
    }

    private Optional<Work> find(String name) {
      return works.values().stream().filter(work -> work.id.toString().equals(name)).findFirst();
    }
  }

  /** Gives handlers the headers, and sends their trailers. */
  private static final class Exchange implements ServerInterceptor {
    static final Context.Key<Metadata> HEADERS = Context.key("headers");
    static final Context.Key<Metadata> TRAILERS = Context.key("trailers");

    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      Metadata sent = new Metadata();
      return Contexts.interceptCall(
          Context.current().withValues(HEADERS, headers, TRAILERS, sent),
          new SimpleForwardingServerCall<>(call) {
            @Override
            public void close(Status status, Metadata trailers) {
              trailers.merge(sent);
              super.close(status, trailers);
            }
          },
          headers,
          next);
    }
  }

  private static Metadata.Key<String> ascii(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
