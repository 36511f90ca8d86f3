package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.JooqHandlers.ID;
import static io.github.grpcidempotency.postgres.JooqHandlers.NAME;
import static io.github.grpcidempotency.postgres.JooqHandlers.NOTE;
import static io.github.grpcidempotency.postgres.JooqHandlers.NOTES;
import static io.github.grpcidempotency.postgres.JooqHandlers.THINGS;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Status;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jooq.DSLContext;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteListener;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.exception.IntegrityConstraintViolationException;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Claims that are sent with the first statement of jOOQ. */
@SuppressWarnings("NullAway") // it does not know the method that starts what is static
class JooqLateClaimsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String CLAIM = "refuse_claim";
  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder().setName("a thing").build();

  private static FaultProxy proxy;
  private static HikariDataSource pool;
  private static ThingServer server;

  private final ThingClient client = ThingClient.on(server.channel());
  private final DSLContext dsl = new JooqHandlers(pool).dsl();
  private final DSLContext superuser = DSL.using(database.as("postgres"), SQLDialect.POSTGRES);

  @BeforeAll
  static void start() {
    proxy = FaultProxy.before(database.appUrl());
    pool = new HikariDataSource();
    pool.setJdbcUrl(proxy.jdbcUrl());
    pool.setMaximumPoolSize(3);
    server =
        ThingServer.on(Transport.IN_PROCESS)
            .store(PostgresIdempotencyStore.builder(pool).build())
            .createThing(
                thing ->
                    thing
                        .execution(Execution.TRANSACTIONAL)
                        .claim(ClaimTiming.WITH_FIRST_STATEMENT))
            .start();
  }

  @AfterAll
  static void stop() {
    server.close();
    pool.close();
    proxy.close();
  }

  @BeforeEach
  void emptyTables() {
    database.reset();
  }

  @AfterEach
  void everyConnectionIsGivenBack() {
    assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
  }

  /** What a handler does first. Each note can be taken once. */
  private enum First {
    EXECUTE(true) {
      @Override
      void on(DSLContext dsl) {
        insert(dsl, "by execute");
      }
    },
    BATCH(false) {
      @Override
      void on(DSLContext dsl) {
        dsl.batch(dsl.insertInto(NOTES, NOTE).values((String) null))
            .bind("b1")
            .bind("b2")
            .execute();
      }
    };

    private final boolean travels;

    First(boolean travels) {
      this.travels = travels;
    }

    abstract void on(DSLContext dsl);

    private static void insert(DSLContext dsl, String note) {
      dsl.insertInto(NOTES, NOTE).values(note).execute();
    }
  }

  /** If the duplicate's statement ran, it would fail on a note that is taken. */
  @ParameterizedTest
  @EnumSource
  void aHandlerHasItsEffectOnceAndItsDuplicateIsStopped(First first) {
    List<Throwable> stopped = new CopyOnWriteArrayList<>();
    create(
        thing -> {
          try {
            first.on(dsl);
          } catch (RuntimeException thrown) {
            stopped.add(thrown);
            throw thrown;
          }
          insertThing(thing);
        });
    int before = server.runs();
    proxy.forgetRoundTrips();

    Reply created = client.createThing(REQUEST);
    List<String> claims = proxy.roundTrips().stream().filter(sql -> sql.contains(CLAIM)).toList();
    List<String> notes = notes();
    Reply replayed = client.createThing(REQUEST);
    Reply hinted = client.with("idempotency-retry", "true").createThing(REQUEST);

    assertThat(created.isOk()).as(created.toString()).isTrue();
    assertThat(claims).singleElement().matches(sql -> isAlone(sql) != first.travels);
    assertThat(isRecordedWithItsThing()).isTrue();
    for (Reply again : List.of(replayed, hinted)) {
      assertThat(again.isReplay()).as(again.toString()).isTrue();
      assertThat(again.bytes()).isEqualTo(created.bytes());
    }
    assertThat(server.runs() - before).isEqualTo(2);
    assertThat(notes()).isEqualTo(notes);
    assertThat(stopped).singleElement().isInstanceOf(ClaimPreemptedException.class);
  }

  private static boolean isAlone(String flush) {
    return flush.endsWith("CAST($2 AS uuid) LIMIT 1;\n");
  }

  @Test
  void aHandlerThatCatchesJooqsExceptionIsStoppedToo() {
    create(this::insertThing);
    Reply created = client.createThing(REQUEST);
    List<Throwable> caught = new CopyOnWriteArrayList<>();
    List<Runnable> attempts =
        List.of(
            () -> First.EXECUTE.on(translating()),
            () -> First.EXECUTE.on(dsl),
            () -> First.BATCH.on(dsl));
    create(
        thing -> {
          for (Runnable attempt : attempts) {
            try {
              attempt.run();
            } catch (RuntimeException swallowed) {
              caught.add(swallowed);
            }
          }
        });

    Reply replayed = client.createThing(REQUEST);

    assertThat(replayed.isReplay()).as(replayed.toString()).isTrue();
    assertThat(replayed.bytes()).isEqualTo(created.bytes());
    assertThat(caught).hasSize(attempts.size());
    assertThat(caught).hasOnlyElementsOfType(ClaimPreemptedException.class);
    assertThat(notes()).isEmpty();
  }

  /** Makes an exception of its own of every one, as applications do by a listener. */
  private DSLContext translating() {
    return DSL.using(
        dsl.configuration()
            .derive(
                new ExecuteListener() {
                  @Override
                  public void exception(ExecuteContext context) {
                    context.exception(new IllegalStateException("translated"));
                  }
                }));
  }

  @Test
  void aFirstStatementThatFailsIsTranslatedAsUsual() {
    superuser.insertInto(NOTES, NOTE).values("by execute").execute();
    List<Throwable> thrown = new CopyOnWriteArrayList<>();
    create(
        thing -> {
          try {
            First.EXECUTE.on(dsl);
          } catch (DataAccessException failure) {
            thrown.add(failure);
            throw Status.ALREADY_EXISTS.asRuntimeException();
          }
        });

    assertThat(client.createThing(REQUEST).isOk()).isFalse();

    assertThat(thrown)
        .singleElement()
        .isInstanceOfSatisfying(
            IntegrityConstraintViolationException.class,
            violation -> assertThat(violation.sqlState()).isEqualTo("23505"));
    assertThat(superuser.fetchCount(DSL.table("idempotency.idempotency_keys"))).isZero();
  }

  /** Handles calls by doing this with the new thing, and then answering with it. */
  private static void create(Consumer<Thing> effect) {
    server.things().handle(ThingHandler.creating(effect));
  }

  private void insertThing(Thing thing) {
    dsl.insertInto(THINGS, ID, NAME)
        .values(UUID.fromString(thing.getId()), thing.getName())
        .execute();
  }

  private List<String> notes() {
    return superuser.select(NOTE).from(NOTES).orderBy(DSL.field("id")).fetch(NOTE);
  }

  private boolean isRecordedWithItsThing() {
    return superuser
        .fetchSingle(
            "SELECT things.xmin = keys.xmin FROM app.things, idempotency.idempotency_keys AS keys")
        .get(0, Boolean.class);
  }
}
