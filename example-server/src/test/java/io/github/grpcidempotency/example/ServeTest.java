package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.user;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.test.Program;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command that serves: on a database of one's own, until it is terminated. */
@Timeout(120) // a server that is not refused would serve for ever
class ServeTest {
  private static final int SIGTERM_EXIT = 143;

  @Test
  void aServerOnAGivenDatabaseAnswersAndEndsWithoutOutputWhenItIsTerminated(@TempDir Path directory)
      throws IOException, InterruptedException {
    Path keyset = keyset(directory);
    Process server =
        Program.JAVA
            .process(
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Example.class.getName(),
                "serve",
                "--port",
                "0",
                "--jdbc-url",
                Databases.copy().url(),
                "--keyset",
                keyset.toString())
            .start();
    try (BufferedReader out = server.inputReader(UTF_8);
        BufferedReader err = server.errorReader(UTF_8)) {
      String listening = out.readLine();
      assertThat(listening).startsWith("listening on port ");
      try (TestClient client =
          new TestClient(Integer.parseInt(listening.substring("listening on port ".length())))) {
        assertThat(ApiKeys.newProject(client, user(UUID.randomUUID()))).isNotEmpty();
      }
      server.toHandle().destroy(); // Process.destroy would close the streams
      assertThat(server.waitFor()).isEqualTo(SIGTERM_EXIT);
      assertThat(err.lines()).allMatch(line -> line.contains(" INFO "));
    } finally {
      server.destroyForcibly();
    }
  }

  @Test
  void allProblemsOfADatabaseAreListedBeforeTheFirstCall(@TempDir Path directory) {
    Database database = Databases.copy();
    try (Handle superuser = Jdbi.open(database.superuser())) {
      superuser.execute("REVOKE SELECT, INSERT ON idempotency.idempotency_keys FROM example_app");
    }
    assertThat(
            refusal(
                "--jdbc-url",
                database.url(),
                "--keyset",
                keyset(directory).toString(),
                "--port",
                "0"))
        .contains("idempotency cannot be set up", "example_app", "idempotency.idempotency_keys");
  }

  @Test
  void aGivenDatabaseNeedsAKeyset() {
    assertThat(refusal("--jdbc-url", Databases.copy().url())).contains("--keyset");
  }

  private static Path keyset(Path directory) {
    Path file = directory.resolve("keyset.json");
    assertThat(Example.run("keys", "CREATE", file.toString())).isZero();
    return file;
  }

  private static String refusal(String... options) {
    String[] arguments = new String[options.length + 1];
    arguments[0] = "serve";
    System.arraycopy(options, 0, arguments, 1, options.length);
    PrintStream before = System.err;
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    System.setErr(new PrintStream(err, true, UTF_8));
    try {
      assertThat(Example.run(arguments)).isNotZero();
    } finally {
      System.setErr(before);
    }
    return err.toString(UTF_8);
  }
}
