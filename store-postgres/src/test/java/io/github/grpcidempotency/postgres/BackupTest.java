package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingServer;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What {@code docs/operations/maintenance.md} says about backups, under forced row-level security.
 */
class BackupTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final Pattern MAJOR = Pattern.compile("\\(PostgreSQL\\) (\\d+)");

  /** What {@code pg_dump} runs, without its options and with {@code --enable-row-security}. */
  private static final String ROWS = "SELECT count(*) FROM idempotency.idempotency_keys";

  @BeforeAll
  static void makeARecordAndARole() {
    database
        .superuser()
        .useHandle(
            handle -> {
              handle.execute("DROP ROLE IF EXISTS things_backup");
              handle.execute("CREATE ROLE things_backup LOGIN BYPASSRLS");
              handle.execute("GRANT pg_read_all_data TO things_backup");
            });
    try (ThingServer server = PostgresThingServer.on(database.app()).start();
        ThingClient client = ThingClient.to(server.port())) {
      client.createThing(Things.named("a thing"));
    }
  }

  @Test
  void theOwnersDumpFailsRatherThanLeavingRecordsOut() {
    try (Handle owner = Jdbi.create(database.owner()).open()) {
      owner.execute("SET row_security = off");
      assertThatThrownBy(() -> rows(owner)).hasMessageContaining("row-level security");
      owner.execute("SET row_security = on");
      assertThat(rows(owner)).as("and what it is told to leave out, it leaves out").isZero();
    }
  }

  @Test
  void aRoleThatBypassesRowLevelSecurityDumpsEverything() {
    try (Handle backup = Jdbi.create(database.as("things_backup")).open()) {
      backup.execute("SET row_security = off");
      assertThat(rows(backup)).isEqualTo(1);
    }
  }

  /** The commands themselves, where there is a {@code pg_dump} that knows this server's version. */
  @Test
  void theCommandsOfTheDocumentationDoWhatItSays() throws IOException, InterruptedException {
    assumeTrue(pgDumpMajor() >= serverMajor(), "no pg_dump of the server's version is installed");

    Ran byOwner = dump("things_owner");
    assertThat(byOwner.exitCode()).isNotZero();
    assertThat(byOwner.output()).contains("row-level security");

    Ran byBackup = dump("things_backup");
    assertThat(byBackup.exitCode()).as(byBackup.output()).isZero();
    assertThat(byBackup.output()).contains("COPY idempotency.idempotency_keys", "CreateThing");
  }

  private static int rows(Handle handle) {
    return handle.createQuery(ROWS).mapTo(Integer.class).one();
  }

  private record Ran(int exitCode, String output) {}

  private static Ran dump(String role) throws IOException, InterruptedException {
    URI url = URI.create(database.appUrl().substring("jdbc:".length()));
    return run(
        List.of(
            "pg_dump",
            "--host=" + url.getHost(),
            "--port=" + url.getPort(),
            "--dbname=" + url.getPath().substring(1),
            "--username=" + role,
            "--schema=idempotency"));
  }

  private static int serverMajor() {
    return database
        .superuser()
        .withHandle(
            handle ->
                handle
                    .createQuery("SELECT current_setting('server_version_num')::int / 10000")
                    .mapTo(Integer.class)
                    .one());
  }

  private static int pgDumpMajor() throws InterruptedException {
    try {
      Matcher version = MAJOR.matcher(run(List.of("pg_dump", "--version")).output());
      return version.find() ? Integer.parseInt(version.group(1)) : 0;
    } catch (IOException notInstalled) {
      return 0;
    }
  }

  private static Ran run(List<String> command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(new ArrayList<>(command)).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ran(process.waitFor(), output);
  }
}
