package io.github.grpcidempotency.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import io.github.grpcidempotency.postgres.IdempotencyDataSource;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.grpc.Status;
import jakarta.persistence.EntityManager;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/** Claims that travel with the first statement that Spring or Hibernate sends. */
@ParameterizedClass
@EnumSource(names = {"JDBC", "JPA"})
class LateClaimsTest extends SpringServerTest {
  @RegisterExtension static final PostgresFixture database = ThingDatabase.MIGRATED.create();

  private static final String CLAIM = "refuse_claim";
  private static final String BATCH_LEFT = "INFO HHH100503: ";
  private static final String RECORD = "INSERT INTO idempotency.idempotency_keys";

  LateClaimsTest(Host.Kind kind) {
    super(kind, Way.WITH_FIRST_STATEMENT, database);
    server.journal().clear();
  }

  /** The name is taken by an uncommitted row, which another INSERT would wait for. */
  @Test
  void aDuplicateOnAnotherServerIsStoppedAtItsFirstStatementAndWaitsForNoRow() {
    List<Throwable> stopped = new CopyOnWriteArrayList<>();
    CountDownLatch open = new CountDownLatch(1);
    server.create(
        thing -> {
          host.takeName("taken");
          server.insert(thing);
          awaitOpen(open);
        });
    try (HikariDataSource pool = database.newPool(5);
        Host otherHost = Host.of(kind, way.on(pool));
        SpringServer other = SpringServer.start(otherHost, way);
        LogLines log = LogLines.listen()) {
      other.create(
          thing -> {
            try {
              otherHost.propagations().required(() -> otherHost.takeName("taken"));
            } catch (RuntimeException unwound) {
              stopped.add(unwound);
              throw unwound;
            }
          });
      CompletableFuture<Reply> first = client.startThing(REQUEST);
      await().until(() -> writers() == 1);

      CompletableFuture<Reply> duplicate = other.newClient().like(client).startThing(REQUEST);
      await().until(() -> other.journal().all(IdempotencyEvent.Attached.class).size() == 1);

      assertThat(stopped).singleElement().isInstanceOf(ClaimPreemptedException.class);
      assertThat(log.all()).noneMatch(line -> line.contains("WARN") || line.contains("ERROR"));
      open.countDown();
      assertThat(first.join().isOk()).as(first.join().toString()).isTrue();
      assertThat(duplicate.join().isReplay()).isTrue();
      assertThat(duplicate.join().bytes()).isEqualTo(first.join().bytes());
      assertThat(other.runs()).isEqualTo(1);
    } finally {
      open.countDown();
    }
  }

  /** It logs a statement that fails as an error. Of a batch it says that it was not sent. */
  @Test
  void hibernateLogsNothingAlarmingOfADuplicateThatIsStopped() {
    assumeThat(kind).isEqualTo(Host.Kind.JPA);
    List<Consumer<Host>> firsts =
        List.of(
            other -> entities(other).persist(new ThingEntity(UUID.randomUUID(), "at the end")),
            other -> other.takeName("flushed at once"),
            other -> entities(other).persist(new NoteEntity("identity")),
            other -> entities(other).persist(new TicketEntity()),
            other -> entities(other).find(ThingEntity.class, UUID.randomUUID()),
            other ->
                entities(other).createQuery("FROM NoteEntity", NoteEntity.class).getResultList(),
            other -> entities(other).createNativeQuery("SELECT 1").getSingleResult(),
            other -> {
              entities(other).persist(new NameEntity("a batch of two, 1"));
              entities(other).persist(new NameEntity("a batch of two, 2"));
              entities(other).flush();
            });
    for (Host.Kind each : List.of(Host.Kind.JPA, Host.Kind.JPA_BATCHING)) {
      try (HikariDataSource pool = database.newPool(3);
          Host other = Host.of(each, way.on(pool));
          SpringServer withIt = SpringServer.start(other, way)) {
        for (Consumer<Host> first : firsts) {
          ThingClient caller = withIt.newClient();
          withIt.create(withIt::insert);
          Reply created = caller.createThing(REQUEST);
          int before = withIt.runs();
          withIt.create(thing -> other.propagations().required(() -> first.accept(other)));
          try (HibernateLog log = HibernateLog.listen()) {
            assertThat(caller.createThing(REQUEST).bytes()).isEqualTo(created.bytes());
            assertThat(log.lines())
                .as(each + " " + firsts.indexOf(first))
                .allMatch(line -> each == Host.Kind.JPA_BATCHING && line.startsWith(BATCH_LEFT));
          }
          assertThat(withIt.runs()).isEqualTo(before + 1);
        }
      }
    }
  }

  /** So that the log is known to be heard. */
  @Test
  void hibernateLogsAFirstStatementThatFails() {
    assumeThat(kind).isEqualTo(Host.Kind.JPA);
    server.create(
        thing -> {
          entities(host).persist(badThing());
          entities(host).flush();
        });
    try (HibernateLog log = HibernateLog.listen()) {
      assertThat(client.createThing(REQUEST).isOk()).isFalse();
      assertThat(log.lines()).anyMatch(line -> line.contains("violates check constraint"));
    }
  }

  private static EntityManager entities(Host of) {
    return of.entities().orElseThrow();
  }

  /** What Hibernate logs, by {@code java.util.logging}, that anybody would see. */
  private static final class HibernateLog extends Handler implements AutoCloseable {
    private final Logger hibernate = Logger.getLogger("org.hibernate");
    private final List<String> lines = new CopyOnWriteArrayList<>();

    static HibernateLog listen() {
      HibernateLog log = new HibernateLog();
      log.hibernate.addHandler(log);
      return log;
    }

    List<String> lines() {
      return lines;
    }

    @Override
    public void publish(LogRecord logged) {
      lines.add(logged.getLevel() + " " + new SimpleFormatter().formatMessage(logged));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
      hibernate.removeHandler(this);
    }
  }

  @Test
  void theClaimTravelsWithTheFirstOfTwoRows() {
    List<String> sent =
        roundTrips(
            kind,
            counted ->
                thing -> {
                  counted.insert(UUID.fromString(thing.getId()), thing.getName());
                  counted.insert(UUID.randomUUID(), "another");
                });

    assertThat(sent.get(0)).contains(CLAIM, "app.things");
    assertThat(sent.get(1)).contains("app.things").doesNotContain(CLAIM);
    assertThat(sent.get(2)).contains(RECORD, "COMMIT");
    assertThat(sent).hasSize(3);
  }

  /** For an argument that is null, Spring asks for the name of the driver. */
  @Test
  void theClaimTravelsWithAStatementThatHasANullAmongItsArguments() {
    List<String> sent =
        roundTrips(
            kind,
            counted ->
                thing ->
                    counted
                        .jdbc()
                        .update(
                            "INSERT INTO app.notes (text) VALUES (coalesce(?, 'none'))",
                            new Object[] {null}));

    assertThat(sent.get(0)).contains(CLAIM, "app.notes");
    assertThat(sent).hasSize(2);
  }

  /** Its rows would be written for nothing. */
  @Test
  void whatIsSetToRollbackOnlyIsNotFlushed() {
    server.create(
        thing ->
            host.propagations()
                .required(
                    () -> {
                      host.entities().ifPresent(entities -> entities.persist(badThing()));
                      throw new IllegalArgumentException("on purpose");
                    }));

    assertThat(client.createThing(REQUEST).status().getCode()).isEqualTo(Status.Code.UNKNOWN);
    assertThatItRunsAnew();
  }

  @Test
  void aHostNeedsOnlyAWrappedPool() {
    storeOn(database.pool()).verifyLateClaims();
  }

  /** The page on transactions shows these lines. */
  private static PostgresIdempotencyStore storeOn(DataSource pool) {
    DataSource dataSource = new IdempotencyDataSource(pool);
    PlatformTransactionManager manager = new JdbcTransactionManager(dataSource);
    return PostgresIdempotencyStore.builder(dataSource)
        .hostTransactions(SpringTransactions.of(manager, dataSource))
        .build();
  }

  /** Returns what a call sends on a connection that has sent such a call before. */
  private List<String> roundTrips(Host.Kind of, Function<Host, Consumer<Thing>> handler) {
    try (FaultProxy proxy = FaultProxy.before(database.jdbcUrl("things_app"));
        HikariDataSource pool = SpringServer.pool(proxy.jdbcUrl());
        Host counted = Host.of(of, way.on(pool));
        SpringServer other = SpringServer.start(counted, way)) {
      other.create(handler.apply(counted));
      Reply warm = other.newClient().createOther(REQUEST);
      assertThat(warm.isOk()).as(warm.toString()).isTrue();
      proxy.forgetRoundTrips();

      Reply reply = other.newClient().createOther(REQUEST);

      assertThat(reply.isOk()).as(reply.toString()).isTrue();
      return proxy.roundTrips();
    }
  }

  private void assertThatItRunsAnew() {
    assertThat(ThingDatabase.thingsOf(database, client.user())).isEmpty();
    assertThat(ThingDatabase.records(database, client.user())).isZero();
    server.create(server::insert);
    Reply retried = client.createThing(REQUEST);
    assertThat(retried.isOk()).as(retried.toString()).isTrue();
    assertThat(retried.isReplay()).isFalse();
    assertThat(ThingDatabase.joined(database, client.user())).isEqualTo(1);
  }

  /** Returns how many transactions have written and are still open. */
  private static int writers() {
    Integer writers =
        new JdbcTemplate(database.superuser())
            .queryForObject(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL"
                    + " AND state = 'idle in transaction' AND datname = current_database()",
                Integer.class);
    return writers == null ? 0 : writers;
  }

  private static ThingEntity badThing() {
    return new ThingEntity(UUID.randomUUID(), "bad");
  }

  private static void awaitOpen(CountDownLatch open) {
    try {
      open.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
