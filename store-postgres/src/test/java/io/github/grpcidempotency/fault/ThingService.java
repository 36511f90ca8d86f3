package io.github.grpcidempotency.fault;

import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Counts how often a handler is run. */
final class ThingService extends ThingServiceGrpc.ThingServiceImplBase {
  private final ThingHandler handler;
  private final Consumer<String> printer;
  private final AtomicInteger runs = new AtomicInteger();

  ThingService(ThingHandler handler, Consumer<String> printer) {
    this.handler = handler;
    this.printer = printer;
  }

  int runs() {
    return runs.get();
  }

  @Override
  public void createThing(CreateThingRequest request, StreamObserver<Thing> answer) {
    begin();
    handler.create(request, answer);
  }

  @Override
  public void createOther(CreateThingRequest request, StreamObserver<Thing> answer) {
    begin();
    ThingHandler.answer(answer, ThingHandler.newThing(request));
  }

  private void begin() {
    runs.incrementAndGet();
    printer.accept("ran");
  }
}
