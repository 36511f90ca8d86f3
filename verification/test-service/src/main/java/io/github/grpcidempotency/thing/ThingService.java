package io.github.grpcidempotency.thing;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Empty;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.DeleteThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The service behind the interceptor. Counts its runs, and ends them as the test configures. */
public final class ThingService extends ThingServiceGrpc.ThingServiceImplBase {
  /** A call whose handler has returned without ending the call. */
  public record Running(
      CreateThingRequest request, StreamObserver<Thing> observer, Context context) {
    /** Answers with a new thing. */
    public void succeed() {
      ThingHandler.answer(request, observer);
    }

    /** Ends the call with an error. */
    public void fail(Status status) {
      observer.onError(status.asRuntimeException());
    }
  }

  private final AtomicInteger runs = new AtomicInteger();
  private final BlockingQueue<Running> running = new LinkedBlockingQueue<>();
  private final Optional<ThingHandler> other;
  private volatile ThingHandler handler;
  private volatile Deletion deletion = (request, answer) -> answer(answer);

  ThingService(ThingHandler handler, Optional<ThingHandler> other) {
    this.handler = handler;
    this.other = other;
  }

  /** Sets the handler of calls from now on. */
  public void handle(ThingHandler handler) {
    this.handler = handler;
  }

  /** Deletes a thing. */
  @FunctionalInterface
  public interface Deletion {
    /** Handles one call. */
    void delete(DeleteThingRequest request, StreamObserver<Empty> answer);
  }

  /** Sets the handler of deletes from now on; by default they delete nothing. */
  public void handleDeletes(Deletion deletion) {
    this.deletion = deletion;
  }

  /** Answers that a thing is deleted. */
  public static void answer(StreamObserver<Empty> answer) {
    answer.onNext(Empty.getDefaultInstance());
    answer.onCompleted();
  }

  /** From now on, calls run until the test ends them. */
  public void keepRunning() {
    handle((request, observer) -> running.add(new Running(request, observer, Context.current())));
  }

  /** From now on, calls succeed. */
  public void succeed() {
    handle(ThingHandler::answer);
  }

  /** Waits for a running call. */
  public Running nextRunning() throws InterruptedException {
    Running next = running.poll(10, TimeUnit.SECONDS);
    assertThat(next).as("a call that runs").isNotNull();
    return next;
  }

  /** Returns how often a handler was run. */
  public int runs() {
    return runs.get();
  }

  @Override
  public void createThing(CreateThingRequest request, StreamObserver<Thing> observer) {
    run(handler, request, observer);
  }

  @Override
  public void createOther(CreateThingRequest request, StreamObserver<Thing> observer) {
    run(other.orElse(handler), request, observer);
  }

  @Override
  public void deleteThing(DeleteThingRequest request, StreamObserver<Empty> observer) {
    runs.incrementAndGet();
    deletion.delete(request, observer);
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

  private void run(
      ThingHandler handler, CreateThingRequest request, StreamObserver<Thing> observer) {
    runs.incrementAndGet();
    handler.create(request, observer);
  }
}
