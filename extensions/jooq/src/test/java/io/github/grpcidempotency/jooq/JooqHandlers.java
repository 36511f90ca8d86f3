package io.github.grpcidempotency.jooq;

import static io.github.grpcidempotency.thing.ThingHandler.newThing;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

import io.github.grpcidempotency.postgres.TransactionalCompletion;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.stub.StreamObserver;
import java.util.UUID;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.exception.IntegrityConstraintViolationException;
import org.jooq.impl.DSL;

/** The handlers that the page about jOOQ shows. */
final class JooqHandlers {
  static final Table<Record> THINGS = table(name("app", "things"));
  static final Field<UUID> ID = field(name("id"), UUID.class);
  static final Field<String> NAME = field(name("name"), String.class);
  static final Table<Record> NOTES = table(name("app", "notes"));
  static final Field<String> NOTE = field(name("note"), String.class);

  private final DSLContext dsl;

  JooqHandlers(DataSource pool) {
    DSLContext own = DSL.using(pool, SQLDialect.POSTGRES);
    this.dsl = DSL.using(ClaimConfiguration.of(own.configuration()));
  }

  DSLContext dsl() {
    return dsl;
  }

  /** Of a transactional procedure. */
  void createInTheClaim(CreateThingRequest request, StreamObserver<Thing> answer) {
    Thing thing = newThing(request);
    dsl.insertInto(THINGS, ID, NAME)
        .values(UUID.fromString(thing.getId()), thing.getName())
        .execute();
    try {
      dsl.transaction(
          nested -> nested.dsl().insertInto(NOTES, NOTE).values(thing.getName()).execute());
    } catch (IntegrityConstraintViolationException taken) {
      // The thing stays: only the nested transaction was rolled back.
    }
    answer.onNext(thing);
    answer.onCompleted();
  }

  /** Of a reserved procedure. */
  void createAndComplete(CreateThingRequest request, StreamObserver<Thing> answer) {
    Thing thing = newThing(request);
    dsl.transaction(
        transaction -> {
          DSLContext own = transaction.dsl();
          own.fetch("SELECT set_config('app.current_user_id', ?, true)", user());
          own.insertInto(THINGS, ID, NAME)
              .values(UUID.fromString(thing.getId()), thing.getName())
              .execute();
          own.connection(
              connection -> TransactionalCompletion.completeAndCommit(connection, thing));
        });
    answer.onNext(thing);
    answer.onCompleted();
  }

  private static String user() {
    return ThingServer.caller().userId().toString();
  }
}
