package io.github.grpcidempotency.admin.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** What the console accepts from a client that is not a browser. */
class ConsoleAccessTest {
  private static final Pattern TOKEN = Pattern.compile("name=\"token\" value=\"([^\"]+)\"");
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String CREATE_ORDER = "shop.v1.OrderService/CreateOrder";

  @RegisterExtension static final PostgresFixture database = ConsoleShop.DATABASES.create();
  private static Administration administration;

  private final ConsoleShop shop = new ConsoleShop(database);
  private Console console;

  @BeforeAll
  static void grant() {
    administration = new ConsoleShop(database).administration();
  }

  @BeforeEach
  void open() throws IOException {
    console = ConsoleShop.open(administration);
  }

  @AfterEach
  void close() {
    console.close();
  }

  @Test
  void nobodyGetsAccessWithoutThePassword() throws IOException {
    Reply stranger = new Request("").send();
    assertThat(stranger.status()).isEqualTo(401);
    assertThat(stranger.header("WWW-Authenticate")).startsWith("Basic ");
    String password = console.password();
    for (String credentials :
        List.of("ann:wrong", "ann:", "bob:" + password, password, "ann:" + password + "x")) {
      assertThat(new Request("").credentials(credentials).send().status()).isEqualTo(401);
    }
    assertThat(new Request("").header("Authorization", "Basic ???").send().status()).isEqualTo(401);
    assertThat(new Request("").header("Authorization", "Bearer x").send().status()).isEqualTo(401);
    assertThat(new Request("console.css").send().status()).isEqualTo(401);
    assertThat(get("").status()).isEqualTo(200);
  }

  /** Otherwise a page of another site, whose name was made to lead here, could read everything. */
  @Test
  void theConsoleAcceptsOnlyTheNamesOfTheLoopbackAddress() throws IOException {
    for (String host :
        List.of(
            "evil.example",
            "evil.example:" + console.uri().getPort(),
            "localhost.evil.example",
            "127x0.0.1")) {
      assertThat(raw("GET / HTTP/1.1\r\nHost: " + host + "\r\n")).startsWith("HTTP/1.1 421");
    }
    assertThat(raw("GET / HTTP/1.0\r\n")).contains(" 421 ");
    assertThat(raw("GET / HTTP/1.1\r\nHost: LOCALHOST:99\r\n")).startsWith("HTTP/1.1 200");
    assertThat(raw("GET / HTTP/1.1\r\nHost: [::1]\r\n")).startsWith("HTTP/1.1 200");
    assertThat(console.uri().getHost()).isEqualTo("localhost");
  }

  @Test
  void aFormOfAnotherSiteIsRefused() throws IOException {
    UUID id = shop.row(CREATE_ORDER).stuck().insert();
    String token = get("operation?id=" + id).token();
    Map<String, String> form = new LinkedHashMap<>();
    form.put("act", "free");
    form.put("operation", id.toString());
    form.put("reason", "why not");

    for (String page : List.of("find", "check", "perform")) {
      assertThat(post(page, form).status()).isEqualTo(403);
    }
    for (String forged : List.of("", "x", token + "x")) {
      form.put("token", forged);
      assertThat(post("perform", form).status()).as(forged).isEqualTo(403);
    }
    form.put("token", token);
    assertThat(
            new Request("perform")
                .ann()
                .form(form)
                .header("Sec-Fetch-Site", "cross-site")
                .send()
                .status())
        .isEqualTo(403);
    assertThat(
            new Request("perform")
                .ann()
                .form(form)
                .header("Content-Type", "text/plain")
                .send()
                .status())
        .isEqualTo(415);
    assertThat(shop.exists(id)).isTrue();
    assertThat(shop.done(id)).isZero();

    assertThat(post("perform", form).status()).isEqualTo(303);
    assertThat(shop.exists(id)).isFalse();
  }

  @Test
  @Timeout(20)
  void connectionsThatSendNothingDoNotStopTheConsole() throws IOException {
    List<Socket> silent = new ArrayList<>();
    try {
      for (int each = 0; each < 100; each++) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), console.uri().getPort());
        silent.add(socket);
        socket.getOutputStream().write("GET / HTTP/1.1\r\n".getBytes(UTF_8));
      }

      assertThat(get("").status()).isEqualTo(200);
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }

  @Test
  void aForgedLinkShowsNoSuccessMessage() throws IOException {
    UUID id = shop.row(CREATE_ORDER).stuck().insert();

    assertThat(get("operation?id=" + id + "&done=free").body()).doesNotContain("Freed");
    assertThat(get("operation?id=" + UUID.randomUUID() + "&done=free").status()).isEqualTo(404);
  }

  @Test
  void everyAnswerHasTheHeadersThatProtectIt() throws IOException {
    for (Reply reply : List.of(get(""), get("none"), get("console.css"), new Request("").send())) {
      assertThat(reply.header("Content-Security-Policy"))
          .contains("default-src 'none'", "frame-ancestors 'none'", "form-action 'self'")
          .doesNotContain("unsafe", "script-src");
      assertThat(reply.header("X-Frame-Options")).isEqualTo("DENY");
      assertThat(reply.header("X-Content-Type-Options")).isEqualTo("nosniff");
      assertThat(reply.header("Cache-Control")).isEqualTo("no-store");
      assertThat(reply.header("Referrer-Policy")).isEqualTo("same-origin");
    }
  }

  @Test
  void requestsThatMakeNoSenseAreRefused() throws IOException {
    assertThat(get("none").status()).isEqualTo(404);
    assertThat(get("operation?id=none").status()).isEqualTo(400);
    assertThat(get("operation?id=" + UUID.randomUUID()).status()).isEqualTo(404);
    assertThat(get("?view=all&view=all").status()).isEqualTo(400);
    assertThat(get("?after=none").status()).isEqualTo(400);
    assertThat(get("?view=none").status()).isEqualTo(200);
    assertThat(new Request("find").ann().form("key=%zz").send().status()).isEqualTo(400);
    assertThat(get("find").status()).isEqualTo(404);
    assertThat(new Request("").ann().method("DELETE").send().status()).isEqualTo(405);
    Reply head = new Request("").ann().method("HEAD").send();
    assertThat(head.status()).isEqualTo(200);
    assertThat(head.body()).isEmpty();
    assertThat(post("find", Map.of("key", "x".repeat(20_000))).status()).isEqualTo(413);
    assertThat(post("perform", Map.of("act", "drop")).status()).isEqualTo(400);
    assertThat(post("perform", Map.of("act", "free", "operation", "1")).status()).isEqualTo(400);
  }

  @Test
  void anUnreachableDatabaseIsReportedWithoutDetails() throws IOException {
    PGSimpleDataSource nowhere = new PGSimpleDataSource();
    nowhere.setUrl("jdbc:postgresql://localhost:1/none?user=nobody");
    console.close();
    console = ConsoleShop.open(Administration.on(nowhere));

    Reply reply = get("");

    assertThat(reply.status()).isEqualTo(503);
    assertThat(reply.body())
        .contains("cannot be reached, or refused the request")
        .doesNotContain("localhost", "nobody");
  }

  @Test
  void aNameOrAnAddressThatCannotWorkIsRefused() {
    assertThatThrownBy(() -> Console.start(administration, "a:b", 0, true, Optional.empty()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () -> Console.start(administration, "ann", 0, true, Optional.of("https://jaeger")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private Reply get(String page) throws IOException {
    return new Request(page).ann().send();
  }

  private Reply post(String page, Map<String, String> form) throws IOException {
    return new Request(page).ann().form(form).send();
  }

  /** Sends what no client of Java would. */
  private String raw(String head) throws IOException {
    String login =
        Base64.getEncoder().encodeToString(("ann:" + console.password()).getBytes(UTF_8));
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), console.uri().getPort())) {
      socket
          .getOutputStream()
          .write(
              (head + "Authorization: Basic " + login + "\r\nConnection: close\r\n\r\n")
                  .getBytes(UTF_8));
      return new String(socket.getInputStream().readAllBytes(), UTF_8);
    }
  }

  /** What the console answers. */
  private record Reply(int status, HttpHeaders headers, String body) {
    String header(String name) {
      return headers.firstValue(name).orElse("");
    }

    String token() {
      Matcher token = TOKEN.matcher(body);
      assertThat(token.find()).isTrue();
      return token.group(1);
    }
  }

  /** A request, by a client that follows nothing and keeps nothing. */
  private final class Request {
    private final HttpRequest.Builder request;

    Request(String page) {
      request = HttpRequest.newBuilder(URI.create(console.uri() + page));
    }

    Request ann() {
      return credentials("ann:" + console.password());
    }

    Request credentials(String text) {
      return header(
          "Authorization", "Basic " + Base64.getEncoder().encodeToString(text.getBytes(UTF_8)));
    }

    Request header(String name, String value) {
      request.setHeader(name, value);
      return this;
    }

    Request method(String method) {
      request.method(method, HttpRequest.BodyPublishers.noBody());
      return this;
    }

    Request form(Map<String, String> fields) {
      return form(
          fields.entrySet().stream()
              .map(field -> field.getKey() + "=" + URLEncoder.encode(field.getValue(), UTF_8))
              .collect(Collectors.joining("&")));
    }

    Request form(String encoded) {
      request.POST(HttpRequest.BodyPublishers.ofString(encoded));
      return header("Content-Type", "application/x-www-form-urlencoded");
    }

    Reply send() throws IOException {
      try {
        HttpResponse<String> response =
            HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
        return new Reply(response.statusCode(), response.headers(), response.body());
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new IOException(interrupted);
      }
    }
  }
}
