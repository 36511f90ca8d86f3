package io.github.grpcidempotency.postgres.jooq;

import static io.github.grpcidempotency.postgres.jooq.Database.ID;
import static io.github.grpcidempotency.postgres.jooq.Database.NAME;
import static io.github.grpcidempotency.postgres.jooq.Database.NOTE;
import static io.github.grpcidempotency.postgres.jooq.Database.NOTES;
import static io.github.grpcidempotency.postgres.jooq.Database.THINGS;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import io.github.grpcidempotency.postgres.IdempotencyDataSource;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.testing.PostgresFixture;
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
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteListener;
import org.jooq.Field;
import org.jooq.JSONB;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.conf.Settings;
import org.jooq.conf.StatementType;
import org.jooq.exception.DataAccessException;
import org.jooq.exception.IntegrityConstraintViolationException;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Claims that travel with the first statement that jOOQ sends: in the store's own transaction, and
 * in one of the host's.
 */
@ParameterizedClass(name = "of the host: {0}")
@ValueSource(booleans = {false, true})
@SuppressWarnings("NullAway") // it does not know the method that starts what is static
class LateClaimsTest {
  @RegisterExtension static final PostgresFixture database = Database.create();

  private static final String CLAIM = "refuse_claim";
  private static final Field<Long> KEY = DSL.field(DSL.name("id"), Long.class);
  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder().setName("a thing").build();

  private static FaultProxy proxy;
  private static HikariDataSource pool;
  private static ThingServer server;

  @Parameter boolean hosted;

  private final ThingClient client = ThingClient.on(server.channel());
  private final DSLContext dsl = new JooqHandlers(pool).dsl();
  private final DSLContext superuser = DSL.using(database.superuser(), SQLDialect.POSTGRES);

  /** One server for all tests of a kind. */
  @BeforeParameterizedClassInvocation
  static void start(boolean hosted) {
    proxy = FaultProxy.before(database.jdbcUrl("things_app"));
    pool = new HikariDataSource();
    pool.setJdbcUrl(proxy.jdbcUrl());
    pool.setMaximumPoolSize(3);
    server = hosted ? hosted(new IdempotencyDataSource(pool)) : start(store().build());
  }

  @AfterParameterizedClassInvocation
  static void stop() {
    server.close();
    pool.close();
    proxy.close();
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
    KEYS(true) {
      @Override
      void on(DSLContext dsl) {
        Long key = dsl.insertInto(NOTES, NOTE).values("keys").returning(KEY).fetchSingle(KEY);
        assertThat(key).isPositive();
      }
    },
    NULLS_ARRAYS_AND_JSON(true) {
      @Override
      void on(DSLContext dsl) {
        Record row =
            dsl.fetchSingle(
                "SELECT coalesce(?::text, 'none'), cardinality(?::int[]), ?::jsonb ->> 'a',"
                    + " ?::uuid",
                null,
                new Integer[] {1, 2},
                JSONB.jsonb("{\"a\": \"x\"}"),
                new UUID(1, 2));
        assertThat(row.intoList()).containsExactly("none", 2, "x", new UUID(1, 2));
        insert(dsl, "after a query");
      }
    },
    WITH_A_TIMEOUT(true) {
      @Override
      void on(DSLContext dsl) {
        insert(with(dsl, new Settings().withQueryTimeout(60)), "with a timeout");
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
    },
    SAVEPOINT(false) {
      @Override
      void on(DSLContext dsl) {
        dsl.transaction(nested -> insert(nested.dsl(), "nested"));
      }
    },
    WITHOUT_PARAMETERS(false) {
      @Override
      void on(DSLContext dsl) {
        insert(
            with(dsl, new Settings().withStatementType(StatementType.STATIC_STATEMENT)), "static");
      }
    };

    private final boolean travels;

    First(boolean travels) {
      this.travels = travels;
    }

    abstract void on(DSLContext dsl);

    private static DSLContext with(DSLContext dsl, Settings settings) {
      return DSL.using(dsl.configuration().derive(settings));
    }

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
            () -> First.SAVEPOINT.on(dsl),
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

  private static ThingServer hosted(DataSource dataSource) {
    return start(store().hostTransactions(new PoolTransactions(dataSource)).build());
  }

  private static PostgresIdempotencyStore.Builder store() {
    return PostgresIdempotencyStore.builder(pool);
  }

  private static ThingServer start(PostgresIdempotencyStore store) {
    return ThingServer.on(Transport.IN_PROCESS)
        .store(store)
        .createThing(
            thing ->
                thing.execution(Execution.TRANSACTIONAL).claim(ClaimTiming.WITH_FIRST_STATEMENT))
        .start();
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
    return superuser.select(NOTE).from(NOTES).orderBy(KEY).fetch(NOTE);
  }

  private boolean isRecordedWithItsThing() {
    return superuser
        .fetchSingle(
            "SELECT things.xmin = keys.xmin FROM app.things, idempotency.idempotency_keys AS keys")
        .get(0, Boolean.class);
  }
}
