package io.github.grpcidempotency.jta;

import static io.github.grpcidempotency.thing.ThingHandler.answer;
import static io.github.grpcidempotency.thing.ThingHandler.newThing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.rpc.Code;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkFailedException;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JtaCallsTest {
  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("things_owner", "things_app")
          .checkConnections()
          .migrate(IdempotencySchema::migrate)
          .migrate(JtaCallsTest::addThings)
          .create();

  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder().setName("a thing").build();

  private static Narayana host;

  @BeforeAll
  static void start() throws Exception {
    host = new Narayana(database.jdbcUrl("things_app"));
  }

  @AfterAll
  static void stop() {
    host.close();
  }

  @AfterEach
  void everyConnectionIsGivenBack() {
    await().until(() -> host.pool.getMetrics().activeCount() == 0);
    assertThat(host.warnings()).isEmpty();
  }

  @Test
  void aRetryIsReplayedAlthoughTheEffectIsFlushedOnlyAtTheEnd() throws Exception {
    TransactionalHandler late = (thing, answer) -> host.executeLate(insert(thing));
    try (ThingServer server = transactional(late);
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(REQUEST);

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(client.createThing(REQUEST).isReplay()).isTrue();
      assertThat(server.runs()).isOne();
      assertThat(thingsOf(client)).containsExactly(first.thingId());
      assertThat(joined(client)).isTrue();
      assertThat(server.events()).doesNotContain(Kind.UNPROTECTED);
    }
  }

  @Test
  void anAnswerWithinTheHandlersTransactionIsNotSentAndTheTransactionIsRolledBack()
      throws Exception {
    TransactionalHandler answering =
        (thing, answer) -> {
          host.executeLate(insertForCaller(thing));
          answer(answer, thing);
        };
    try (ThingServer server = reserved(answering);
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(REQUEST);

      assertThat(first.status().getCode()).isEqualTo(Status.Code.INTERNAL);
      assertThat(first.status().getDescription()).contains("make the procedure transactional");
      assertThat(thingsOf(client)).isEmpty();
    }
  }

  @Test
  void aTerminalErrorIsRecordedAlthoughTheHandlersTransactionCanOnlyRollBack() throws Exception {
    TransactionalHandler refusing =
        (thing, answer) -> {
          host.execute(insertForCaller(thing));
          host.manager.setRollbackOnly();
          answer.onError(Status.ALREADY_EXISTS.asRuntimeException());
        };
    try (ThingServer server = reserved(refusing);
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(REQUEST);

      assertThat(first.status().getCode()).isEqualTo(Status.Code.ALREADY_EXISTS);
      assertThat(client.createThing(REQUEST).status().getCode())
          .isEqualTo(Status.Code.ALREADY_EXISTS);
      assertThat(server.runs()).isOne();
      assertThat(thingsOf(client)).isEmpty();
    }
  }

  /** A reservation that the caller's transaction could roll back would keep nobody out. */
  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void workWithinACallersTransactionIsClaimedAndSettledOutsideOfIt(Execution execution)
      throws Exception {
    Procedure kind =
        Procedure.named("jobs/make-thing")
            .execution(execution)
            .failures(FailurePolicy.releaseAll().withTerminal(Code.ALREADY_EXISTS))
            .build();
    List<Integer> reserved = new ArrayList<>();
    try (IdempotentWork work = IdempotentWork.builder(store(), kind).build()) {
      Caller caller = Caller.of(UUID.randomUUID());
      for (int run = 0; run < 2; run++) {
        host.manager.begin();
        host.execute("SELECT 1");
        assertThatThrownBy(
                () ->
                    work.run(
                        kind,
                        caller,
                        "token",
                        REQUEST,
                        Thing.parser(),
                        () -> {
                          reserved.add(recordsOf(caller));
                          throw new WorkFailedException(Code.ALREADY_EXISTS, "for good");
                        }))
            .hasMessageContaining("for good");
        host.manager.rollback();
        assertThat(recordsOf(caller)).isOne();
      }
    }
    assertThat(reserved).containsExactly(execution == Execution.RESERVED ? 1 : 0);
  }

  private static int recordsOf(Caller caller) throws SQLException {
    return ids("SELECT id FROM idempotency.idempotency_keys WHERE user_uuid = '%s'"
            .formatted(caller.userId()))
        .size();
  }

  /** The caller's transaction would decide about the reservation. */
  @Test
  void connectionsThatJoinTheCallersTransactionAreRefused() throws Exception {
    Procedure kind = Procedure.named("jobs/make-thing").execution(Execution.RESERVED).build();
    try (IdempotentWork work =
        IdempotentWork.builder(
                PostgresIdempotencyStore.builder(host.pool).connections(host.pool).build(), kind)
            .build()) {
      host.manager.begin();
      try {
        assertThatThrownBy(
                () ->
                    work.run(
                        kind,
                        Caller.of(UUID.randomUUID()),
                        "token",
                        REQUEST,
                        Thing.parser(),
                        Thing::getDefaultInstance))
            .isInstanceOf(WorkRefusedException.class)
            .hasMessageContaining("IDEMPOTENCY_STORE_UNAVAILABLE");
      } finally {
        host.manager.rollback();
      }
    }
  }

  /** What a bean does for a call; the call is answered after its transaction, unless it answers. */
  @FunctionalInterface
  private interface TransactionalHandler {
    void create(Thing thing, StreamObserver<Thing> answer) throws Exception;
  }

  private static ThingServer transactional(TransactionalHandler handler) {
    return server(
        Execution.TRANSACTIONAL,
        (request, answer) -> {
          Thing thing = newThing(request);
          require(() -> handler.create(thing, answer));
          answer(answer, thing);
        });
  }

  /** Its handler answers within its own transaction. */
  private static ThingServer reserved(TransactionalHandler handler) {
    return server(
        Execution.RESERVED,
        (request, answer) -> require(() -> handler.create(newThing(request), answer)));
  }

  private static void require(Narayana.Work work) {
    try {
      host.required(work);
    } catch (RuntimeException failure) {
      throw failure;
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static ThingServer server(Execution execution, ThingHandler handler) {
    return ThingServer.on(Transport.LOOPBACK)
        .store(store())
        .createThing(
            procedure ->
                procedure
                    .execution(execution)
                    .failures(FailurePolicy.releaseAll().withTerminal(Code.ALREADY_EXISTS)))
        .handler(handler)
        .start();
  }

  private static PostgresIdempotencyStore store() {
    return builder().hostTransactions(host.transactions).build();
  }

  private static PostgresIdempotencyStore.Builder builder() {
    return PostgresIdempotencyStore.builder(host.pool).connections(database.pool());
  }

  private static void addThings(DataSource owner) {
    execute(
        owner,
        """
        CREATE TABLE things (
          id      uuid PRIMARY KEY,
          user_id uuid NOT NULL DEFAULT idempotency.current_user_id()
        );
        GRANT SELECT, INSERT ON things TO things_app;
        SELECT idempotency.add_resource_type('thing', 'things', 'id');
        SELECT idempotency.grant_to('things_app');
        """);
  }

  private static String insert(Thing thing) {
    return insert(thing, "DEFAULT");
  }

  private static String insertForCaller(Thing thing) {
    return insert(thing, "'%s'".formatted(ThingServer.caller().userId()));
  }

  private static String insert(Thing thing, String user) {
    return "INSERT INTO things VALUES ('%s', %s)".formatted(thing.getId(), user);
  }

  private static List<UUID> thingsOf(ThingClient client) throws SQLException {
    return ids("SELECT id FROM things WHERE user_id = '%s'".formatted(client.user()));
  }

  /** Returns whether record and effect were written by one transaction. */
  private static boolean joined(ThingClient client) throws SQLException {
    return !ids("""
    SELECT things.id FROM things
    JOIN idempotency.idempotency_keys AS records ON records.thing_id = things.id
    WHERE things.user_id = '%s' AND records.xmin = things.xmin
    """
            .formatted(client.user()))
        .isEmpty();
  }

  private static List<UUID> ids(String query) throws SQLException {
    try (Connection connection = database.superuser().getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      List<UUID> ids = new ArrayList<>();
      while (rows.next()) {
        ids.add(rows.getObject(1, UUID.class));
      }
      return ids;
    }
  }

  private static void execute(DataSource dataSource, String sql) {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }
}
