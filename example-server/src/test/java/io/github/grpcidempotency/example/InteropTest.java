package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A client in another language: what is on the wire is the contract, not our own classes. */
@ExtendWith(SharedExample.class)
class InteropTest {
  private static final Path CLIENT = Path.of("src/test/interop").toAbsolutePath();
  private static final Path PROTOS = Path.of("src/main/protobuf").toAbsolutePath();
  private static final Path LIBRARY_PROTOS = Path.of("../proto/src/main/protobuf").toAbsolutePath();

  /** A transactional call in flight holds an advisory lock, and no row. */
  private static final String RUNNING =
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted";

  @Test
  @Timeout(120)
  void aNodeClientCreatesRetriesAndReadsTrailersAndRichErrors(RunningExample example)
      throws IOException, InterruptedException {
    assumeTrue(nodeRuns(), "skipped: there is no node on the PATH");
    assumeTrue(
        Files.isDirectory(CLIENT.resolve("node_modules")),
        "skipped: run npm ci --prefix example-server/src/test/interop first, as .ci/run does");

    try (Handle superuser = example.superuser()) {
      superuser.begin();
      superuser.execute("LOCK TABLE tenant.projects IN SHARE MODE");
      Process client = startClient(example.server().port());
      try (BufferedReader says = client.inputReader(UTF_8)) {
        assertThat(says.readLine()).isEqualTo("sent");
        await().until(() -> running(example) == 1);
        tell(client, "reserved");

        assertThat(says.readLine()).isEqualTo("retried");
        superuser.commit();

        assertThat(client.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(client.exitValue()).isZero();
      } finally {
        client.destroyForcibly();
      }
    }
  }

  private static boolean nodeRuns() throws InterruptedException {
    try {
      return new ProcessBuilder("node", "--version").start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static Process startClient(int port) throws IOException {
    return new ProcessBuilder(
            "node",
            CLIENT.resolve("client.js").toString(),
            String.valueOf(port),
            PROTOS.toString(),
            LIBRARY_PROTOS.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  private static void tell(Process client, String word) throws IOException {
    client.getOutputStream().write((word + "\n").getBytes(UTF_8));
    client.getOutputStream().flush();
  }

  private static int running(RunningExample example) {
    try (Handle superuser = example.superuser()) {
      return superuser.createQuery(RUNNING).mapTo(Integer.class).one();
    }
  }
}
