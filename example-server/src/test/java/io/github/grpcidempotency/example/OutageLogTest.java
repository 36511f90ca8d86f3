package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.test.Program;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The log of a server whose database is away, as {@code docs/operations/logs.md} promises it. */
@Timeout(300)
class OutageLogTest {
  /** Of the decisions about calls, and of what runs in the background. */
  private static final int MOST_LINES = 60;

  @Test
  void anOutageWritesFewLinesAndNoStackTrace(@TempDir Path directory) throws Exception {
    Path log = directory.resolve("log");
    try (FaultProxy proxy = FaultProxy.before(Databases.copy().url())) {
      Process server = serve(proxy.jdbcUrl(), directory, log);
      try (BufferedReader out = server.inputReader(UTF_8);
          TestClient client = new TestClient(port(out.readLine()));
          Traffic traffic = new Traffic(client)) {
        traffic.start();
        await().until(() -> traffic.answered() > 20);
        int before = lines(log).size();

        for (int flap = 0; flap < 10; flap++) {
          long answered = traffic.answered();
          proxy.cutAll();
          await().until(() -> traffic.answered() > answered + 5);
        }
        proxy.refuse();
        await().until(() -> traffic.failed() > 100);
        proxy.restore();
        long answered = traffic.answered();
        await().until(() -> traffic.answered() > answered + 20);

        List<String> written = lines(log).subList(before, lines(log).size());
        assertThat(written)
            .hasSizeBetween(1, MOST_LINES)
            .allMatch(line -> line.matches("[\\d:.]{12} (INFO |WARN |ERROR) .*"))
            .anyMatch(
                line -> line.matches(".*IDEMPOTENCY_STORE_UNAVAILABLE.* cause=.* key_hash=.*"));
      } finally {
        server.destroyForcibly();
      }
    }
  }

  private static Process serve(String jdbcUrl, Path directory, Path log) throws IOException {
    Path keyset = directory.resolve("keyset.json");
    assertThat(Example.run("keys", "CREATE", keyset.toString())).isZero();
    return Program.JAVA
        .process(
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Example.class.getName(),
            "serve",
            "--port=0",
            "--jdbc-url=" + jdbcUrl,
            "--keyset=" + keyset)
        .redirectError(log.toFile())
        .start();
  }

  private static int port(String listening) {
    return Integer.parseInt(listening.substring("listening on port ".length()));
  }

  private static List<String> lines(Path log) throws IOException {
    return Files.readAllLines(log);
  }
}
