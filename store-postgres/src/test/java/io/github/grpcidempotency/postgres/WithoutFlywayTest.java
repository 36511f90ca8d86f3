package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.test.Program.BASH;
import static io.github.grpcidempotency.test.Program.PSQL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.fault.ServerProcess;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A host may leave out Flyway: no more than what it is for is then missing. */
class WithoutFlywayTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/how-to/migrations.md");

  private final TestDatabase database = TestDatabase.unmigrated();

  @AfterEach
  void close() {
    database.close();
  }

  @Test
  void callsAreClaimedAndReplayedWithoutFlyway() {
    try (ServerProcess process =
        ServerProcess.start(
            WithoutFlywayTest::isNeeded,
            BareProcess.class,
            database.ownerUrl(),
            database.appUrl())) {
      assertThat(process.awaitLine("unlinked")).isEqualTo("[]");
      assertThat(process.awaitLine("refused"))
          .contains("Flyway is not on the class path", "flyway-database-postgresql")
          .contains("the page \"Migrations without Flyway\" of the documentation");
      for (Execution execution : Execution.values()) {
        assertThat(process.awaitLine(execution + " "))
            .isEqualTo("same=true replays=false,true runs=1");
      }
      assertThat(process.awaitLine("swept")).isEqualTo("0");
    }
    assertThat(database.everythingIn("idempotency")).isEqualTo(whatFlywayMakes());
  }

  @Test
  @NeedsProgram(PSQL)
  void psqlRunsTheFilesAsThePageSays() throws Exception {
    assertThat(runInMigrations(snippet("sh", "psql"))).isZero();

    TestDatabase.runHostMigration(database.owner());
    assertThat(database.everythingIn("idempotency")).isEqualTo(whatFlywayMakes());
  }

  @Test
  void flywayRefusesASchemaThatAnotherToolHasMade() throws Exception {
    MigrationFiles.run(database.owner());

    assertThatThrownBy(() -> IdempotencySchema.migrate(database.owner()))
        .hasMessageContaining("non-empty schema");
  }

  @Test
  void thePageNamesEveryFileInOrder() throws Exception {
    List<String> named =
        Pattern.compile("^\\| `(V.*?\\.sql)`", Pattern.MULTILINE)
            .matcher(Files.readString(PAGE))
            .results()
            .map(row -> row.group(1))
            .toList();

    assertThat(named)
        .isEqualTo(
            MigrationFiles.inOrder().stream().map(file -> file.getFileName().toString()).toList());
  }

  @ParameterizedTest
  @ValueSource(strings = "schema")
  void thePageNamesEveryPlaceholder(String name) throws Exception {
    assertThat(Files.readString(PAGE)).contains("`${" + name + "}`");
    for (Path file : MigrationFiles.inOrder()) {
      assertThat(Files.readString(file).replace("${" + name + "}", name)).doesNotContain("${");
    }
  }

  private static boolean isNeeded(String jar) {
    return !jar.startsWith("flyway-");
  }

  private static List<String> whatFlywayMakes() {
    try (TestDatabase migrated = TestDatabase.create()) {
      return migrated.everythingIn("idempotency").stream()
          .filter(thing -> !thing.contains("flyway_schema_history"))
          .toList();
    }
  }

  private int runInMigrations(String command) throws Exception {
    ProcessBuilder shell =
        BASH.process("-euo", "pipefail", "-c", command)
            .directory(MigrationFiles.directory().toFile())
            .redirectErrorStream(true);
    shell.environment().put("OWNER_URL", database.ownerUrl().replaceFirst("^jdbc:", ""));
    Process process = shell.inheritIO().start();
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    return process.exitValue();
  }

  /** Returns the page's snippet of a language that has a word in it. */
  private static String snippet(String language, String word) throws IOException {
    Matcher snippets =
        Pattern.compile("^```" + language + "\\R(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL)
            .matcher(Files.readString(PAGE));
    return snippets
        .results()
        .map(found -> found.group(1))
        .filter(text -> text.contains(word))
        .findFirst()
        .orElseThrow();
  }
}
