package io.github.grpcidempotency.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.example.database.EmbeddedDatabase;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is wrong is said in one sentence, and the program ends. */
class RefusedSetUpsTest {
  private static EmbeddedDatabase database;

  @BeforeAll
  static void startDatabase() {
    database = EmbeddedDatabase.startTemporary();
    database.migrate();
    try (var superuser = Jdbi.open(database.superuser())) {
      superuser.execute("CREATE ROLE bypassing LOGIN BYPASSRLS");
      superuser.execute("CREATE ROLE stranger LOGIN");
    }
  }

  @AfterAll
  static void stopDatabase() {
    database.close();
  }

  @Test
  void aPortInUse(@TempDir Path dataDirectory) throws IOException {
    try (ServerSocket taken = new ServerSocket(0)) {
      String port = String.valueOf(taken.getLocalPort());
      assertRefused(
          "Port " + port + " cannot be listened on (Address already in use); choose another",
          "--port",
          port,
          "--data-dir",
          dataDirectory.toString());
    }
  }

  @Test
  void aDatabaseThatCannotBeReached() throws IOException {
    int nobodyListens;
    try (ServerSocket closedSoon = new ServerSocket(0)) {
      nobodyListens = closedSoon.getLocalPort();
    }
    assertRefused(
        "PostgreSQL at localhost:" + nobodyListens + "/example cannot be used",
        "--port",
        "0",
        "--jdbc-url",
        "jdbc:postgresql://localhost:" + nobodyListens + "/example");
  }

  @Test
  void aUrlThatIsNone() {
    assertRefused("\"localhost\" is not the JDBC URL", "--port", "0", "--jdbc-url", "localhost");
  }

  @Test
  void aSuperuser() {
    assertRefused(
        "The role postgres would bypass row-level security",
        "--port",
        "0",
        "--jdbc-url",
        url("postgres"));
  }

  @Test
  void aRoleThatBypassesRowLevelSecurity() {
    assertRefused(
        "The role bypassing would bypass row-level security",
        "--port",
        "0",
        "--jdbc-url",
        url("bypassing"));
  }

  @Test
  void theOwnerOfTheTables() {
    assertRefused(
        "The server cannot start: the idempotency store cannot be used: the role example_owner owns",
        "--port",
        "0",
        "--jdbc-url",
        url("example_owner"));
  }

  @Test
  void aRoleThatLacksRights() {
    assertRefused(
        "The server cannot start: the idempotency store cannot be used: the role stranger may not",
        "--port",
        "0",
        "--jdbc-url",
        url("stranger"));
  }

  @Test
  void aWorkerThatLacksRights() {
    assertRefused(
        "The role that drains the outbox cannot be used: ERROR: permission denied",
        "--port",
        "0",
        "--jdbc-url",
        url("example_app"),
        "--worker-user",
        "stranger");
  }

  @Test
  void anOwnerThatMayNotMigrate() {
    assertRefused(
        "The database could not be migrated: ERROR: permission denied",
        "--port",
        "0",
        "--jdbc-url",
        url("example_app"),
        "--owner-user",
        "stranger");
  }

  @Test
  void aDataDirectoryThatIsInUse(@TempDir Path dataDirectory) {
    try (EmbeddedDatabase other = EmbeddedDatabase.start(dataDirectory)) {
      assertThat(other.jdbcUrl()).isNotEmpty();
      assertRefused(
          "The data directory " + dataDirectory + " is in use by another example server.",
          "--port",
          "0",
          "--data-dir",
          dataDirectory.toString());
    }
  }

  private static String url(String user) {
    return database.jdbcUrl().replace("user=postgres", "user=" + user);
  }

  private static void assertRefused(String sentence, String... arguments) {
    try (ProgramProcess server = ProgramProcess.start(ExampleServer.class, arguments)) {
      assertThat(server.awaitExit()).isEqualTo(1);
      assertThat(server.out()).isEmpty();
      assertThat(server.err()).singleElement().asString().startsWith(sentence);
    }
  }
}
