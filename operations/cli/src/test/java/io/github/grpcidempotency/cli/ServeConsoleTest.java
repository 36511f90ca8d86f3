package io.github.grpcidempotency.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The console, as the command serves it. */
class ServeConsoleTest {
  @RegisterExtension static final PostgresFixture database = Orders.create();

  private static final Pattern SAID =
      Pattern.compile("at (\\S+)\\s+user\\s+(\\S+)\\s+password\\s+(\\S+)\\s+About");

  private final Shell shell = Shell.with(Orders.operator(database));

  @BeforeEach
  void insertOperations() throws Exception {
    Orders.insertOperations(database);
  }

  @Test
  void itServesWhoeverHasThePasswordAndNobodyElse() throws Exception {
    StringWriter out = new StringWriter();
    Surroundings surroundings =
        new Surroundings(
            shell.variables(),
            new StringReader(""),
            new PrintWriter(out),
            new PrintWriter(new StringWriter()),
            Optional.empty());
    Thread serving =
        new Thread(() -> Program.run(surroundings, "console", "--port", "0", "--actor", "ada"));
    serving.start();
    try {
      await().until(() -> SAID.matcher(out.toString()).find());
      Matcher said = SAID.matcher(out.toString());
      assertThat(said.find()).isTrue();

      assertThat(said.group(2)).isEqualTo("ada");
      assertThat(get(said.group(1), said.group(2), said.group(3)).statusCode()).isEqualTo(200);
      assertThat(get(said.group(1), said.group(2), said.group(3)).body())
          .contains(OperationIds.STUCK);
      assertThat(get(said.group(1), said.group(2), "wrong" + said.group(3)).statusCode())
          .isEqualTo(401);
    } finally {
      serving.interrupt();
    }
    serving.join();
  }

  @Test
  void aRoleWithoutTheRightIsRefusedAtOnce() throws Exception {
    shell
        .and("IDEMPOTENCY_USER", Orders.STRANGER)
        .run("console", "--port", "0")
        .expect(ExitCode.NO_RIGHT);
  }

  @Test
  void aPortInUseIsReported() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = String.valueOf(taken.getLocalPort());

      assertThat(shell.run("console", "--port", port).expect(ExitCode.USAGE).err())
          .contains("port " + port);
    }
  }

  private static HttpResponse<String> get(String uri, String user, String password)
      throws Exception {
    String login =
        Base64.getEncoder()
            .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create(uri))
                .header("Authorization", "Basic " + login)
                .build(),
            HttpResponse.BodyHandlers.ofString());
  }
}
