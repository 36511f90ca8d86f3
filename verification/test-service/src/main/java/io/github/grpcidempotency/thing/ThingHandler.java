package io.github.grpcidempotency.thing;

import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.grpc.stub.StreamObserver;
import java.util.UUID;

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

  /** Answers with a new thing, and writes nothing. */
  static void answer(CreateThingRequest request, StreamObserver<Thing> answer) {
    answer(answer, newThing(request));
  }

  /** Answers with a thing. */
  static void answer(StreamObserver<Thing> answer, Thing thing) {
    answer.onNext(thing);
    answer.onCompleted();
  }
}
