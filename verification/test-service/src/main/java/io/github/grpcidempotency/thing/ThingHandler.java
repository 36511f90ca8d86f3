package io.github.grpcidempotency.thing;

import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.grpc.stub.StreamObserver;
import java.util.UUID;
import java.util.function.Consumer;

/** Creates a thing. */
@FunctionalInterface
public interface ThingHandler {
  /** Handles one call. */
  void create(CreateThingRequest request, StreamObserver<Thing> answer);

  /** Creates the requested thing, with the id that the caller has chosen, if there is one. */
  static Thing newThing(CreateThingRequest request) {
    String minted = request.getThing().getId();
    return Thing.newBuilder()
        .setId(minted.isEmpty() ? UUID.randomUUID().toString() : minted)
        .setName(request.getName())
        .build();
  }

  /** Returns a handler that does something with the new thing, and then answers with it. */
  static ThingHandler creating(Consumer<Thing> effect) {
    return (request, answer) -> {
      Thing thing = newThing(request);
      effect.accept(thing);
      answer(answer, thing);
    };
  }

  /** Answers with a new thing, and writes nothing. */
  static void answer(CreateThingRequest request, StreamObserver<Thing> answer) {
    answer(answer, newThing(request));
  }

  static void answer(StreamObserver<Thing> answer, Thing thing) {
    answer.onNext(thing);
    answer.onCompleted();
  }
}
