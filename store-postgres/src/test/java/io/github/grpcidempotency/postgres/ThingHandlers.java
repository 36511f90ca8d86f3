package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.grpc.spi.CurrentHandler;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * Handlers that write a thing together with its outbox entry. A request's labels say how they
 * behave: {@code gate} names a {@link Gate} to wait at, {@code fail} says that they end with an
 * error.
 */
final class ThingHandlers {
  private ThingHandlers() {}

  /** Waits, and then writes in a separate transaction, without any code for idempotency. */
  static ThingHandler on(DataSource pool) {
    Jdbi jdbi = Jdbi.create(pool);
    return (request, answer) -> {
      UUID user = ThingServer.caller().userId();
      jdbi.useHandle(handle -> waitIfRequested(handle, request));
      if (!failsIfRequested(request, answer)) {
        Thing thing = ThingHandler.newThing(request);
        jdbi.useTransaction(handle -> insert(handle, user, thing));
        ThingHandler.answer(answer, thing);
      }
    };
  }

  /** Writes through the claim's transaction, and then waits. */
  static ThingHandler transactional() {
    return (request, answer) -> {
      Thing thing = ThingHandler.newThing(request);
      if (CurrentHandler.claim().filter(Claim::isOptimistic).isPresent()) {
        insertAsCaller(ClaimJdbi.handle(), thing);
      } else {
        insert(ClaimJdbi.handle(), thing);
      }
      waitIfRequested(ClaimJdbi.handle(), request);
      if (!failsIfRequested(request, answer)) {
        ThingHandler.answer(answer, thing);
      }
    };
  }

  /** Writes and completes in a separate transaction, and waits once it is committed. */
  static ThingHandler completing(DataSource pool) {
    Jdbi jdbi = Jdbi.create(pool);
    return (request, answer) -> {
      UUID user = ThingServer.caller().userId();
      Thing thing = ThingHandler.newThing(request);
      jdbi.useTransaction(
          handle -> {
            insert(handle, user, thing);
            Joining.completeAndCommit(handle, thing);
          });
      jdbi.useHandle(handle -> waitIfRequested(handle, request));
      if (!failsIfRequested(request, answer)) {
        ThingHandler.answer(answer, thing);
      }
    };
  }

  /** Writes a thing and its outbox entry on behalf of a user. */
  static void insert(Handle handle, UUID user, Thing thing) {
    become(handle, user);
    insert(handle, thing);
  }

  /** A claim at commit sets no user for its handler. */
  private static void insertAsCaller(Handle handle, Thing thing) {
    handle.execute(
        "SELECT set_config('app.current_user_id', ?, true);"
            + " INSERT INTO app.things (id, name) VALUES (?, ?)",
        ThingServer.caller().userId().toString(),
        UUID.fromString(thing.getId()),
        thing.getName());
    insertIntoOutbox(handle, thing);
  }

  /** Lets the rest of a transaction work on behalf of a user. */
  static void become(Handle handle, UUID user) {
    handle.execute("SELECT set_config('app.current_user_id', ?, true)", user.toString());
  }

  /** Writes a thing and its outbox entry on behalf of the transaction's user. */
  static void insert(Handle handle, Thing thing) {
    handle.execute(
        "INSERT INTO app.things (id, name) VALUES (?, ?)",
        UUID.fromString(thing.getId()),
        thing.getName());
    insertIntoOutbox(handle, thing);
  }

  private static void insertIntoOutbox(Handle handle, Thing thing) {
    handle.execute(
        "INSERT INTO app.outbox (thing_id, status) VALUES (?, 'pending')",
        UUID.fromString(thing.getId()));
  }

  private static void waitIfRequested(Handle handle, CreateThingRequest request) {
    if (request.containsLabels("gate")) {
      Gate.pass(handle, request.getLabelsOrThrow("gate"));
    }
  }

  private static boolean failsIfRequested(
      CreateThingRequest request, StreamObserver<Thing> answer) {
    boolean fails = request.containsLabels("fail");
    if (fails) {
      answer.onError(Status.INTERNAL.withDescription("as asked for").asRuntimeException());
    }
    return fails;
  }
}
