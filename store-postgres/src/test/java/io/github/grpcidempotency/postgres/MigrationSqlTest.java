package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.CharMatcher;
import io.github.grpcidempotency.postgres.internal.migration.MigrationSql;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The script that stands for the files. */
class MigrationSqlTest {
  private static final Pattern UNQUOTED = Pattern.compile("(?<![\"'])\\$\\{schema}(?![\"'])");
  private static final Pattern MESSAGE =
      Pattern.compile("RAISE EXCEPTION|^ *' (CALL|ALTER|or end)");

  private final TestDatabase database = TestDatabase.unmigrated();

  @AfterEach
  void close() {
    database.close();
  }

  @Test
  void theScriptHasEveryFileInOrder() throws Exception {
    assertThat(MigrationSql.FILES)
        .isEqualTo(
            MigrationFiles.inOrder().stream().map(file -> file.getFileName().toString()).toList());
  }

  @Test
  void theScriptCreatesTheSameSchemaAsFlyway() throws Exception {
    run(IdempotencySchema.sql("keys_of_ours"));

    IdempotencySchema.migrate(database.owner());
    assertThat(database.everythingIn("keys_of_ours"))
        .isNotEmpty()
        .containsExactlyInAnyOrderElementsOf(
            database.everythingIn("idempotency").stream()
                .filter(thing -> !thing.contains("flyway_schema_history"))
                .map(thing -> thing.replaceAll("\\bidempotency\\.", "keys_of_ours."))
                .toList());
  }

  @Test
  void aSchemaOfAnEarlierReleaseIsBroughtUpToDate() throws Exception {
    String whole = IdempotencySchema.sql("idempotency");
    String newer = IdempotencySchema.sqlAfter("idempotency", 2);
    int cut = whole.indexOf("-- " + MigrationSql.FILES.get(2));
    run(whole.substring(0, cut) + "COMMIT;");
    TestDatabase.runHostMigration(database.owner());
    Things.verify(PostgresIdempotencyStore.builder(database.app()).build(), Things.CREATE_THING);
    assertThat(MigrationSql.FILES.get(2)).as("no server needs it").isEqualTo("V3__operators.sql");

    run(newer);

    Things.verify(PostgresIdempotencyStore.builder(database.app()).build(), Things.CREATE_THING);
    assertThat(newer).isEqualTo("BEGIN;\n\n" + whole.substring(cut));
    assertThat(database.everythingIn("idempotency"))
        .contains("idempotency.idempotency_audit.actor");
    assertThat(version()).isEqualTo(MigrationSql.FILES.size());
  }

  @Test
  void aScriptThatFailsHalfwayLeavesNothing() {
    assertThatThrownBy(
            () ->
                run(IdempotencySchema.sql("idempotency").replace("COMMIT;", "SELECT 1/0; COMMIT;")))
        .hasMessageContaining("division by zero");

    int schemas =
        database.one(
            Integer.class, "SELECT count(*) FROM pg_namespace WHERE nspname = 'idempotency'");
    assertThat(schemas).isZero();
  }

  /** A database may have an encoding without the character, and a schema the name of a keyword. */
  @Test
  void everyFileIsAsciiAndQuotesTheNameOfTheSchema() throws Exception {
    List<String> wrong = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Path.of("src", "main", "resources"))) {
      for (Path file : files.filter(each -> each.toString().endsWith(".sql")).toList()) {
        for (String line : Files.readAllLines(file)) {
          boolean isText = line.strip().startsWith("--") || MESSAGE.matcher(line).find();
          if (!CharMatcher.ascii().matchesAllOf(line)
              || (!isText && UNQUOTED.matcher(line).find())) {
            wrong.add(file.getFileName() + ": " + line.strip());
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void aMalformedNameAndAnUnknownVersionAreRefused() {
    assertThatThrownBy(() -> IdempotencySchema.sql("a b"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> IdempotencySchema.sqlAfter("idempotency", 99))
        .hasMessageContaining("not 99");
    assertThatThrownBy(() -> IdempotencySchema.sqlAfter("idempotency", -1))
        .hasMessageContaining("not -1");
  }

  private int version() {
    return database.one(
        Integer.class,
        "SELECT value::integer FROM idempotency.idempotency_facts" + " WHERE name = 'version'");
  }

  private void run(String script) throws Exception {
    try (Connection connection = database.owner().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(script);
    }
  }
}
