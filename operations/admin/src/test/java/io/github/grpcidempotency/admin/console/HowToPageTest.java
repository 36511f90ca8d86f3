package io.github.grpcidempotency.admin.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.github.grpcidempotency.admin.AdminAction;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The code about the console on the page for operators is cut from here, and runs. */
class HowToPageTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/how-to/operators.md");
  private static final Path SOURCES = Path.of("src", "test");

  @RegisterExtension static final PostgresFixture database = ConsoleShop.DATABASES.create();

  private final HttpClient http = HttpClient.newHttpClient();
  private final DataSource operatorPool = new ConsoleShop(database).operator();
  private final InetSocketAddress address =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  @Test
  void everySnippetOfThePageIsCutFromATest() throws IOException {
    List<String> snippets =
        Snippets.of(PAGE).stream().filter(snippet -> snippet.contains("Console")).toList();

    assertThat(snippets).hasSize(2);
    for (String snippet : snippets) {
      assertThat(Snippets.isCut(snippet, SOURCES)).as(snippet).isTrue();
    }
  }

  @Test
  void thePageNamesEveryRight() throws IOException {
    assertThat(Files.readString(PAGE))
        .contains(
            Arrays.stream(AdminAction.values()).map(action -> "| `" + action + "` |").toList());
  }

  @Test
  void aConsoleOnOnesOwnMachineIsStartedAsShown() throws Exception {
    String password = ConsoleShop.PASSWORD;

    Administration administration = Administration.on(operatorPool);
    Console console =
        Console.builder(
                administration,
                ConsoleAccess.password("ann", password, EnumSet.allOf(AdminAction.class)))
            .address(address) // port 7070 of the loopback address, unless you set another
            .start();

    String login = Base64.getEncoder().encodeToString(("ann:" + password).getBytes(UTF_8));
    assertThat(status(console.uri(), "Authorization", "Basic " + login)).isEqualTo(200);
    console.close();
  }

  @Test
  void aConsoleOnTheHostsServerIsMountedAsShown() throws Exception {
    Administration administration = Administration.on(operatorPool);
    HttpServer server = HttpServer.create(address, 0);
    ExecutorService executor = Executors.newSingleThreadExecutor();
    server.setExecutor(executor);
    Set<String> onCall = Set.of("ann");

    ConsoleAccess access =
        exchange ->
            Optional.ofNullable(exchange.getRequestHeaders().getFirst("X-Forwarded-User"))
                .filter(onCall::contains)
                .map(name -> new ConsoleUser(name, Set.of(AdminAction.VIEW, AdminAction.FREE)));
    server.createContext(
        "/ops/idempotency/",
        Console.builder(administration, access)
            .hostName("ops.shop.example") // as the browser knows it
            .handler());

    server.start();
    URI console =
        URI.create("http://localhost:" + server.getAddress().getPort() + "/ops/idempotency/");
    assertThat(status(console, "X-Forwarded-User", "ann")).isEqualTo(200);
    assertThat(status(console, "X-Forwarded-User", "bob")).isEqualTo(403);
    server.stop(0);
    executor.shutdown();
  }

  private int status(URI page, String header, String value)
      throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(page).header(header, value).build();
    return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }
}
