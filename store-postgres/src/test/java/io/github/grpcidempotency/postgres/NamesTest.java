package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.CompletionWatch;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import java.sql.Connection;
import java.sql.Statement;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The store works whatever its schema, its resource types and its database are called. */
class NamesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String LONGEST =
      "a_name_of_sixty_three_characters_which_is_all_that_a_name_can_b";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "order",
        "user",
        "a_name_of_fifty_eight_characters_is_too_long_for_a_suffix_",
        LONGEST
      })
  void aSchemaMayHaveAnyName(String schema) throws Exception {
    IdempotencySchema.migrate(database.owner(), schema);
    prepare(database.owner(), schema);

    assertThatAllWorks(database.app(), schema);
    execute(database.owner(), IdempotencySchema.partitions(schema));
    execute(database.owner(), "SELECT \"%s\".partition_keys(2)".formatted(schema));
    assertThatAllWorks(database.app(), schema);
  }

  @Test
  void aDatabaseMayHaveAnEncodingWithFewerCharacters() throws Exception {
    database.execute(
        "CREATE DATABASE things_in_latin1 OWNER things_owner ENCODING 'LATIN1' TEMPLATE template0"
            + " LC_COLLATE 'C' LC_CTYPE 'C'");
    DataSource owner = in("things_in_latin1", database.ownerUrl());
    IdempotencySchema.migrate(owner);
    execute(owner, IdempotencySchema.partitions("idempotency"));
    execute(owner, things());

    try (HikariDataSource pool = pool(in("things_in_latin1", database.appUrl()))) {
      assertThatAllWorks(pool, "idempotency");
    }
  }

  @Test
  void aDatabaseMayQuoteAllIdentifiers() throws Exception {
    try (TestDatabase quoting = TestDatabase.unmigrated()) {
      quoting.execute(
          "ALTER DATABASE \"%s\" SET quote_all_identifiers = on".formatted(quoting.name()));
      IdempotencySchema.migrate(quoting.owner());
      execute(quoting.owner(), things());
      execute(quoting.owner(), IdempotencySchema.partitions("idempotency"));

      assertThatAllWorks(quoting.app(), "idempotency");
      execute(quoting.owner(), "SELECT idempotency.partition_keys(2)");
      assertThatAllWorks(quoting.app(), "idempotency");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"user", "operation", "order", "tenant"})
  void aResourceTypeMayHaveAnyName(String type) throws Exception {
    execute(
        database.owner(),
        "SELECT idempotency.add_resource_type('%s', 'app.things')".formatted(type));
    UUID thing = UUID.randomUUID();
    UUID user = UUID.randomUUID();
    database.execute("INSERT INTO app.things (id, user_id, name) VALUES (?, ?, 'a')", thing, user);
    Procedure procedure =
        Procedure.named("jobs/make-" + type)
            .execution(Execution.RESERVED)
            .resource(ResourceType.of(type), made -> ResourceId.of(thing))
            .build();
    PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(database.app()).build();
    Things.verify(store, procedure);
    ClaimRequest request = Things.claimOf(user, procedure);
    RecordedOutcome answer = Things.answer(thing);

    assertThat(Things.win(store, request).complete(answer)).isEqualTo(Claim.Settled.DONE);
    assertThat(((ClaimResult.Recorded) store.claim(request)).outcome()).isEqualTo(answer);
  }

  /** A quoted name: capitals, a blank and a hyphen. */
  @Test
  void anOwnerMayHaveAnyName() throws Exception {
    try (TestDatabase named = TestDatabase.unmigrated()) {
      named.execute("CREATE ROLE \"The Owner-1\" LOGIN");
      named.execute("GRANT CREATE ON DATABASE \"%s\" TO \"The Owner-1\"".formatted(named.name()));
      DataSource owner = named.as("The Owner-1");
      IdempotencySchema.migrate(owner);
      execute(owner, "SELECT idempotency.grant_to('things_app')");
      execute(owner, IdempotencySchema.partitions("idempotency"));
      execute(owner, "SELECT idempotency.grant_operator_to('things_app')");

      execute(owner, "SELECT idempotency.operator_find(gen_random_uuid())");
      execute(owner, "SELECT idempotency.partition_keys(2)");
    }
  }

  /** What the tests of names need of a host. */
  private static String things() {
    return """
    CREATE SCHEMA app;
    CREATE TABLE app.things (id uuid PRIMARY KEY);
    GRANT USAGE ON SCHEMA app TO things_app;
    GRANT SELECT, INSERT ON app.things TO things_app;
    SELECT idempotency.add_resource_type('thing', 'app.things');
    SELECT idempotency.grant_to('things_app');
    """;
  }

  private static void prepare(DataSource owner, String schema) throws Exception {
    execute(
        owner,
        """
        SELECT "%1$s".add_resource_type('thing', 'app.things');
        SELECT "%1$s".add_operation_index();
        SELECT "%1$s".add_in_flight_index();
        SELECT "%1$s".grant_to('things_app');
        """
            .formatted(schema));
  }

  private static void assertThatAllWorks(HikariDataSource pool, String schema) throws Exception {
    try (PostgresIdempotencyStore store =
        PostgresIdempotencyStore.builder(pool).schema(schema).build()) {
      assertThatAllWorks(store);
    }
  }

  private static void assertThatAllWorks(PostgresIdempotencyStore store) {
    Things.verify(store, Things.CREATE_THING);
    UUID user = UUID.randomUUID();
    ClaimRequest request = Things.claimOf(user, Things.CREATE_THING);
    Claim claim = Things.win(store, request);
    Set<IdempotencyKey> ended = ConcurrentHashMap.newKeySet();
    try (CompletionWatch watch = store.watch(ended::add)) {
      watch.add(request.key());
      assertThat(store.claim(request)).isInstanceOf(ClaimResult.InFlight.class);
      assertThat(claim.complete(Things.ANSWER)).isEqualTo(Claim.Settled.DONE);
      await().until(() -> ended.contains(request.key()));
    }
    assertThat(store.claim(request)).isInstanceOf(ClaimResult.Recorded.class);
    ClaimRequest transactional = Things.claimOf(user, Things.TRANSACTIONAL);
    Claim second = ((ClaimResult.Won) store.claimInTransaction(transactional)).claim();
    assertThat(second.complete(Things.ANSWER)).isEqualTo(Claim.Settled.DONE);
    assertThat(
            store
                .operations(Set.of(RecordedProcedure.of(Things.CREATE_THING)))
                .list(Caller.of(user), Set.of(Things.CREATE_THING.name()), Optional.empty(), 10))
        .hasSize(2);
    try (ExpirySweeper sweeper = ExpirySweeper.builder(store).build()) {
      assertThat(sweeper.sweep()).isZero();
    }
  }

  private static DataSource in(String name, String url) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(url.replaceFirst("(://[^/]+/)[^?]+", "$1" + name));
    return source;
  }

  private static HikariDataSource pool(DataSource source) {
    HikariDataSource pool = new HikariDataSource();
    pool.setDataSource(source);
    pool.setMaximumPoolSize(4);
    return pool;
  }

  private static void execute(DataSource as, String script) throws Exception {
    try (Connection connection = as.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(script);
    }
  }
}
