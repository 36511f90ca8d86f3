package io.github.grpcidempotency.jooq;

import static io.github.grpcidempotency.jooq.JooqHandlers.ID;
import static io.github.grpcidempotency.jooq.JooqHandlers.NAME;
import static io.github.grpcidempotency.jooq.JooqHandlers.NOTE;
import static io.github.grpcidempotency.jooq.JooqHandlers.NOTES;
import static io.github.grpcidempotency.jooq.JooqHandlers.THINGS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Context;
import io.grpc.Status;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jooq.Cursor;
import org.jooq.DSLContext;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.jooq.impl.DataSourceConnectionProvider;
import org.jooq.impl.DefaultConfiguration;
import org.jooq.impl.ThreadLocalTransactionProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ClaimConfigurationTest {
  private static final String APP = "things_app";

  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("things_owner", APP)
          .checkConnections()
          .migrate(IdempotencySchema::migrate)
          .migrate(ClaimConfigurationTest::addTables)
          .create();

  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder().setName("a thing").build();

  /** Most tests change its handler. */
  private static final ThingServer transactional =
      start(store(), Execution.TRANSACTIONAL, ThingHandler::answer);

  private JooqHandlers handlers = new JooqHandlers(database.pool());
  private DSLContext dsl = handlers.dsl();
  private DSLContext superuser = dsl;

  @BeforeEach
  void connect() {
    database.reset();
    handlers = new JooqHandlers(database.pool());
    dsl = handlers.dsl();
    superuser = DSL.using(database.superuser(), SQLDialect.POSTGRES);
  }

  @AfterAll
  static void stop() {
    transactional.close();
  }

  @AfterEach
  void everyConnectionIsGivenBack() {
    assertThat(database.pool().getHikariPoolMXBean().getActiveConnections()).isZero();
  }

  @Test
  void aNestedTransactionIsRolledBackAlone() {
    insertNote(superuser, "taken");
    ThingServer server = handling(handlers::createInTheClaim);
    CreateThingRequest taken = CreateThingRequest.newBuilder().setName("taken").build();

    Reply reply = ThingClient.on(server.channel()).createThing(taken);
    Reply other = create(server);

    assertThat(reply.isOk()).as(reply.toString()).isTrue();
    assertThat(other.isOk()).as(other.toString()).isTrue();
    assertThat(things()).containsExactly(reply.thingId(), other.thingId());
    assertThat(notes()).containsExactly("taken", "a thing");
  }

  @Test
  void aBatchAndAPlainConnectionAndReturnedKeysAreInTheClaim() {
    ThingServer server =
        transactional(
            thing -> {
              dsl.batch(
                      dsl.insertInto(NOTES, NOTE).values("first of a batch"),
                      dsl.insertInto(NOTES, NOTE).values("second of a batch"))
                  .execute();
              dsl.connection(
                  connection -> {
                    try (PreparedStatement insert =
                        connection.prepareStatement("INSERT INTO app.notes (note) VALUES (?)")) {
                      insert.setString(1, "by a connection");
                      insert.executeUpdate();
                    }
                  });
              Record returned =
                  dsl.insertInto(NOTES, NOTE)
                      .values("with a key")
                      .returning(DSL.field("id", Long.class))
                      .fetchOne();
              assertThat(returned).isNotNull();
              return insertThing(dsl, thing);
            });

    assertThat(create(server).isOk()).isTrue();

    assertThat(notes())
        .containsExactly("first of a batch", "second of a batch", "by a connection", "with a key");
    assertThat(superuser.fetchValue("SELECT count(DISTINCT xmin::text) FROM app.notes"))
        .isEqualTo(1L);
    assertThat(
            superuser.fetchValue(
                "SELECT xmin = (SELECT max(xmin::text::int)::text::xid FROM app.things) FROM"
                    + " app.notes LIMIT 1"))
        .isEqualTo(true);
  }

  @Test
  void statementsOfJooqsExecutorAreInTheClaim() {
    ThingServer server =
        transactional(
            thing -> {
              int unused =
                  dsl.insertInto(NOTES, NOTE)
                      .values("asynchronously")
                      .executeAsync()
                      .toCompletableFuture()
                      .join();
              throw Status.ABORTED.asRuntimeException();
            });

    assertThat(create(server).isOk()).isFalse();

    assertThat(notes()).isEmpty();
  }

  @Test
  void aThreadWithoutTheContextIsOutsideOfTheClaim() {
    ThingServer server =
        transactional(
            thing -> {
              CompletableFuture.runAsync(() -> insertNote(dsl, "without the context")).join();
              CompletableFuture.runAsync(
                      Context.current().wrap(() -> insertNote(dsl, "with the context")))
                  .join();
              throw Status.ABORTED.asRuntimeException();
            });

    assertThat(create(server).isOk()).isFalse();

    assertThat(notes()).containsExactly("without the context");
  }

  @Test
  void aConnectionIsGivenBackToWhereItCameFrom() {
    Cursor<?> opened = dsl.selectOne().fetchLazy();
    List<Cursor<?>> left = new CopyOnWriteArrayList<>();
    ThingServer server =
        transactional(
            thing -> {
              opened.close();
              left.add(dsl.selectOne().fetchLazy());
              return insertThing(dsl, thing);
            });

    assertThat(create(server).isOk()).isTrue();

    left.get(0).close();
    assertThat(database.pool().getHikariPoolMXBean().getActiveConnections()).isZero();
  }

  @Test
  void outsideOfACallTransactionsAreTheHosts() {
    dsl.transaction(
        outer -> {
          insertNote(outer.dsl(), "committed");
          assertThat(superuserSees()).as("before the commit").isZero();
          assertThatThrownBy(
                  () ->
                      outer
                          .dsl()
                          .transaction(
                              inner -> {
                                insertNote(inner.dsl(), "nested");
                                throw new IllegalStateException("as asked for");
                              }))
              .hasMessage("as asked for");
        });
    assertThatThrownBy(
            () ->
                dsl.transaction(
                    failing -> {
                      insertNote(failing.dsl(), "rolled back");
                      throw new IllegalStateException("as asked for");
                    }))
        .hasMessage("as asked for");
    insertNote(dsl, "by itself");

    assertThat(notes()).containsExactly("committed", "by itself");
  }

  @Test
  void aHostsTransactionsOfTheThreadStayThose() {
    DataSourceConnectionProvider connections = new DataSourceConnectionProvider(database.pool());
    DSLContext bound =
        DSL.using(
            ClaimConfiguration.of(
                new DefaultConfiguration()
                    .set(SQLDialect.POSTGRES)
                    .set(new ThreadLocalTransactionProvider(connections))));
    ThingServer server =
        transactional(
            thing -> {
              bound.transaction(transaction -> insertNote(bound, "in the claim"));
              throw Status.ABORTED.asRuntimeException();
            });

    assertThat(create(server).isOk()).isFalse();
    bound.transaction(transaction -> insertNote(bound, "committed"));
    assertThatThrownBy(
            () ->
                bound.transaction(
                    transaction -> {
                      insertNote(bound, "rolled back");
                      throw new IllegalStateException("as asked for");
                    }))
        .hasMessage("as asked for");

    assertThat(notes()).containsExactly("committed");
  }

  @Test
  void aReservedHandlerRecordsItsAnswerInItsOwnTransaction() {
    try (ThingServer server = start(store(), Execution.RESERVED, handlers::createAndComplete)) {
      ThingClient client = ThingClient.on(server.channel());

      Reply first = client.createThing(REQUEST);
      Reply retry = client.createThing(REQUEST);

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(retry.isReplay()).isTrue();
      assertThat(isRecordedWithItsThing()).isTrue();
    }
  }

  private static void addTables(DataSource owner) {
    DSL.using(owner, SQLDialect.POSTGRES)
        .execute(
            """
            CREATE SCHEMA app;
            CREATE TABLE app.things (
              id      uuid PRIMARY KEY,
              user_id uuid NOT NULL DEFAULT idempotency.current_user_id(),
              name    text NOT NULL
            );
            CREATE TABLE app.notes (
              id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
              note text NOT NULL UNIQUE
            );
            GRANT USAGE ON SCHEMA app TO things_app;
            GRANT SELECT, INSERT ON app.things, app.notes TO things_app;
            SELECT idempotency.add_resource_type('thing', 'app.things', 'id');
            SELECT idempotency.grant_to('things_app');
            """);
  }

  private static ThingServer transactional(Function<Thing, Thing> handler) {
    return handling(
        (request, answer) ->
            ThingHandler.answer(answer, handler.apply(ThingHandler.newThing(request))));
  }

  private static ThingServer handling(ThingHandler handler) {
    transactional.things().handle(handler);
    return transactional;
  }

  private static PostgresIdempotencyStore store() {
    return PostgresIdempotencyStore.builder(database.pool()).build();
  }

  private static ThingServer start(
      PostgresIdempotencyStore store, Execution execution, ThingHandler handler) {
    return ThingServer.on(Transport.IN_PROCESS)
        .store(store)
        .createThing(thing -> thing.execution(execution))
        .handler(handler)
        .start();
  }

  private static Reply create(ThingServer server) {
    return ThingClient.on(server.channel()).createThing(REQUEST);
  }

  private static Thing insertThing(DSLContext dsl, Thing thing) {
    dsl.insertInto(THINGS, ID, NAME)
        .values(UUID.fromString(thing.getId()), thing.getName())
        .execute();
    return thing;
  }

  private static void insertNote(DSLContext dsl, String note) {
    dsl.insertInto(NOTES, NOTE).values(note).execute();
  }

  private List<UUID> things() {
    return superuser.select(ID).from(THINGS).fetch(ID);
  }

  private List<String> notes() {
    return superuser.select(NOTE).from(NOTES).orderBy(DSL.field("id")).fetch(NOTE);
  }

  private int superuserSees() {
    return superuser.fetchCount(NOTES);
  }

  private boolean isRecordedWithItsThing() {
    return superuser
        .fetchSingle(
            "SELECT things.xmin = keys.xmin FROM app.things, idempotency.idempotency_keys AS keys")
        .get(0, Boolean.class);
  }
}
