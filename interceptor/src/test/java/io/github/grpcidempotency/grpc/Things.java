package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The service behind the interceptor: counts its runs, and ends them as a test wants it. */
final class Things extends ThingServiceGrpc.ThingServiceImplBase {
  /** Handles one call. */
  interface Handler {
    void create(CreateThingRequest request, StreamObserver<Thing> observer);
  }

  /** A call whose handler has returned without ending it. */
  record Running(CreateThingRequest request, StreamObserver<Thing> observer, Context context) {
    void succeed() {
      answer(request, observer);
    }

    void fail(Status status) {
      observer.onError(status.asRuntimeException());
    }
  }

  private final AtomicInteger runs = new AtomicInteger();
  private final BlockingQueue<Running> running = new LinkedBlockingQueue<>();
  private volatile Handler handler = Things::answer;

  /** Sets what calls do from now on. */
  void handle(Handler handler) {
    this.handler = handler;
  }

  /** Lets calls run from now on until the test ends them. */
  void keepRunning() {
    handle((request, observer) -> running.add(new Running(request, observer, Context.current())));
  }

  /** Lets calls succeed from now on. */
  void succeed() {
    handle(Things::answer);
  }

  /** Waits for a call to run. */
  Running nextRunning() throws InterruptedException {
    Running next = running.poll(10, TimeUnit.SECONDS);
    assertThat(next).as("a call that runs").isNotNull();
    return next;
  }

  int runs() {
    return runs.get();
  }

  static Thing newThing(CreateThingRequest request) {
    return Thing.newBuilder()
        .setId(UUID.randomUUID().toString())
        .setName(request.getName())
        .build();
  }

  static void answer(CreateThingRequest request, StreamObserver<Thing> observer) {
    observer.onNext(newThing(request));
    observer.onCompleted();
  }

  @Override
  public void createThing(CreateThingRequest request, StreamObserver<Thing> observer) {
    runs.incrementAndGet();
    handler.create(request, observer);
  }

  @Override
  public void createOther(CreateThingRequest request, StreamObserver<Thing> observer) {
    createThing(request, observer);
  }

  @Override
  public StreamObserver<CreateThingRequest> createMany(StreamObserver<Thing> observer) {
    return new StreamObserver<>() {
      private CreateThingRequest last = CreateThingRequest.getDefaultInstance();

      @Override
      public void onNext(CreateThingRequest request) {
        last = request;
      }

      @Override
      public void onError(Throwable cancelled) {}

      @Override
      public void onCompleted() {
        createThing(last, observer);
      }
    };
  }
}
