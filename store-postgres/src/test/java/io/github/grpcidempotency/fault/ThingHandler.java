package io.github.grpcidempotency.fault;

import io.github.grpcidempotency.postgres.ClaimTransaction;
import io.github.grpcidempotency.postgres.TransactionalCompletion;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * Creates a thing. The handlers here write it together with its outbox entry, and a request's
 * labels say how they behave: {@code gate} names a {@link Gate} to wait at, {@code fail} says that
 * they end with an error.
 */
@FunctionalInterface
public interface ThingHandler {
  /** Handles one call. */
  void create(CreateThingRequest request, StreamObserver<Thing> answer);

  /** Waits, and then writes in a transaction of its own; knows nothing of idempotency. */
  static ThingHandler on(DataSource pool) {
    Jdbi jdbi = Jdbi.create(pool);
    return (request, answer) -> {
      UUID user = ThingServer.CALLER.get().userId();
      jdbi.useHandle(handle -> waitAsAskedFor(handle, request));
      if (!failsAsAskedFor(request, answer)) {
        Thing thing = newThing(request);
        jdbi.useTransaction(handle -> insert(handle, user, thing));
        answer(answer, thing);
      }
    };
  }

  /** Writes through the claim's transaction, and then waits. */
  static ThingHandler transactional() {
    return (request, answer) -> {
      Thing thing = newThing(request);
      insert(ClaimTransaction.handle(), thing);
      waitAsAskedFor(ClaimTransaction.handle(), request);
      if (!failsAsAskedFor(request, answer)) {
        answer(answer, thing);
      }
    };
  }

  /** Writes and completes in a transaction of its own, and waits once it is committed. */
  static ThingHandler completing(DataSource pool) {
    Jdbi jdbi = Jdbi.create(pool);
    return (request, answer) -> {
      UUID user = ThingServer.CALLER.get().userId();
      Thing thing = newThing(request);
      jdbi.useTransaction(
          handle -> {
            insert(handle, user, thing);
            TransactionalCompletion.complete(handle, thing);
          });
      jdbi.useHandle(handle -> waitAsAskedFor(handle, request));
      if (!failsAsAskedFor(request, answer)) {
        answer(answer, thing);
      }
    };
  }

  /** Makes a thing as it was asked for: with the id that the caller has minted, if it has. */
  static Thing newThing(CreateThingRequest request) {
    String minted = request.getThing().getId();
    return Thing.newBuilder()
        .setId(minted.isEmpty() ? UUID.randomUUID().toString() : minted)
        .setName(request.getName())
        .build();
  }

  /** Writes a thing and its outbox entry on behalf of a user. */
  static void insert(Handle handle, UUID user, Thing thing) {
    handle
        .createQuery("SELECT set_config('app.current_user_id', :user, true)")
        .bind("user", user.toString())
        .mapTo(String.class)
        .one();
    insert(handle, thing);
  }

  /** Writes a thing and its outbox entry on behalf of the transaction's user. */
  static void insert(Handle handle, Thing thing) {
    handle.execute(
        "INSERT INTO app.things (id, name) VALUES (?, ?)",
        UUID.fromString(thing.getId()),
        thing.getName());
    handle.execute(
        "INSERT INTO app.outbox (thing_id, status) VALUES (?, 'pending')",
        UUID.fromString(thing.getId()));
  }

  /** Answers with a thing. */
  static void answer(StreamObserver<Thing> answer, Thing thing) {
    answer.onNext(thing);
    answer.onCompleted();
  }

  private static void waitAsAskedFor(Handle handle, CreateThingRequest request) {
    if (request.containsLabels("gate")) {
      Gate.pass(handle, request.getLabelsOrThrow("gate"));
    }
  }

  private static boolean failsAsAskedFor(CreateThingRequest request, StreamObserver<Thing> answer) {
    boolean fails = request.containsLabels("fail");
    if (fails) {
      answer.onError(Status.INTERNAL.withDescription("as asked for").asRuntimeException());
    }
    return fails;
  }
}
