package io.github.grpcidempotency.admin.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.github.grpcidempotency.admin.AdminAction;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

/** Who may do what through the console, as somebody without a browser tries it. */
class ConsoleAccessTest {
  private static final Pattern TOKEN = Pattern.compile("name=\"token\" value=\"([^\"]+)\"");
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String CREATE_ORDER = "shop.v1.OrderService/CreateOrder";

  @RegisterExtension static final PostgresFixture database = ConsoleShop.DATABASES.create();
  private static Administration administration;

  private final ConsoleShop shop = new ConsoleShop(database);
  private final List<AutoCloseable> opened = new ArrayList<>();
  private Console console;

  @BeforeAll
  static void grant() {
    administration = new ConsoleShop(database).administration();
  }

  @BeforeEach
  void open() throws IOException {
    console = start(builder(ConsoleAccess.password("ann", ConsoleShop.PASSWORD, ConsoleShop.ALL)));
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  @Test
  void nobodyGetsAccessWithoutThePassword() throws IOException {
    Reply stranger = new Request("").send();
    assertThat(stranger.status()).isEqualTo(401);
    assertThat(stranger.header("WWW-Authenticate")).startsWith("Basic ");
    for (String credentials :
        List.of(
            "ann:wrong",
            "ann:",
            "bob:" + ConsoleShop.PASSWORD,
            ConsoleShop.PASSWORD,
            "ann:" + ConsoleShop.PASSWORD + "x")) {
      assertThat(new Request("").credentials(credentials).send().status()).isEqualTo(401);
    }
    assertThat(new Request("").header("Authorization", "Basic ???").send().status()).isEqualTo(401);
    assertThat(new Request("").header("Authorization", "Bearer x").send().status()).isEqualTo(401);
    assertThat(new Request("console.css").send().status()).isEqualTo(401);
    assertThat(get("").status()).isEqualTo(200);
  }

  @Test
  void anAuthenticatorThatFailsRefuses() throws IOException {
    console =
        start(
            builder(
                exchange -> {
                  throw new IllegalStateException("the directory is down");
                }));

    assertThat(get("").status()).isEqualTo(403);
    assertThat(get("").body()).doesNotContain("directory");
  }

  /** Otherwise a page of another site, whose name was made to lead here, could read everything. */
  @Test
  void theConsoleAcceptsOnlyItsOwnHostNames() throws IOException {
    assertThat(raw("GET / HTTP/1.1\r\nHost: evil.example\r\n")).startsWith("HTTP/1.1 421");
    assertThat(raw("GET / HTTP/1.1\r\nHost: evil.example:" + console.uri().getPort() + "\r\n"))
        .startsWith("HTTP/1.1 421");
    assertThat(raw("GET / HTTP/1.1\r\nHost: localhost.evil.example\r\n"))
        .startsWith("HTTP/1.1 421");
    assertThat(raw("GET / HTTP/1.0\r\n")).contains(" 421 ");
    assertThat(raw("GET / HTTP/1.1\r\nHost: LOCALHOST:99\r\n")).startsWith("HTTP/1.1 200");
    assertThat(raw("GET / HTTP/1.1\r\nHost: [::1]\r\n")).startsWith("HTTP/1.1 200");
    console =
        start(
            builder(ConsoleAccess.password("ann", ConsoleShop.PASSWORD, ConsoleShop.ALL))
                .hostName("ops.shop.example"));
    assertThat(raw("GET / HTTP/1.1\r\nHost: ops.shop.example\r\n")).startsWith("HTTP/1.1 200");
  }

  @Test
  void aFormOfAnotherSiteIsRefused() throws IOException {
    UUID id = shop.row(CREATE_ORDER).stuck().insert();
    Reply page = get("operation?id=" + id);
    Map<String, String> form = form("free", id, "why not", page.token());
    String cookie = page.cookie();

    Map<String, String> forged = new LinkedHashMap<>(form);
    for (String token : List.of("", "x", page.token() + "x", get("").token())) {
      forged.put("token", token);
      assertThat(post("perform", forged, cookie).status()).as(token).isEqualTo(403);
    }
    forged.remove("token");
    assertThat(post("perform", forged, cookie).status()).isEqualTo(403);
    assertThat(post("perform", form, get("").cookie()).status()).isEqualTo(403);
    assertThat(post("perform", form, "").status()).isEqualTo(403);
    assertThat(
            new Request("perform")
                .ann()
                .cookie(cookie)
                .form(form)
                .header("Sec-Fetch-Site", "cross-site")
                .send()
                .status())
        .isEqualTo(403);
    assertThat(
            new Request("perform")
                .ann()
                .cookie(cookie)
                .form(form)
                .header("Content-Type", "text/plain")
                .send()
                .status())
        .isEqualTo(415);
    assertThat(shop.exists(id)).isTrue();
    assertThat(shop.done(id)).isZero();

    assertThat(post("perform", form, cookie).status()).isEqualTo(303);
    assertThat(shop.exists(id)).isFalse();
  }

  @Test
  void aTokenIsValidForOneUserAndOneOperationAndOneActionOnly() throws IOException {
    byte[] secret = new byte[32];
    UUID one = shop.row(CREATE_ORDER).stuck().insert();
    UUID other = shop.row(CREATE_ORDER).stuck().insert();
    UUID recorded = shop.row(CREATE_ORDER).insert();
    Console anns =
        start(
            builder(ConsoleAccess.password("ann", ConsoleShop.PASSWORD, ConsoleShop.ALL))
                .formSecret(secret));
    Console bobs =
        start(
            builder(ConsoleAccess.password("bob", ConsoleShop.PASSWORD, ConsoleShop.ALL))
                .formSecret(secret));
    Console annsToo =
        start(
            builder(ConsoleAccess.password("ann", ConsoleShop.PASSWORD, ConsoleShop.ALL))
                .formSecret(secret));
    console = anns;
    Reply page = get("operation?id=" + one);
    String cookie = page.cookie();

    assertThat(post("perform", form("free", other, "x", page.token()), cookie).status())
        .isEqualTo(403);
    assertThat(post("perform", form("forget", recorded, "x", page.token()), cookie).status())
        .isEqualTo(403);
    console = bobs;
    Request bob =
        new Request("perform")
            .credentials("bob:" + ConsoleShop.PASSWORD)
            .cookie(cookie)
            .form(form("free", one, "x", page.token()));
    assertThat(bob.send().status()).isEqualTo(403);
    assertThat(shop.exists(one)).isTrue();
    console = annsToo;
    assertThat(post("perform", form("free", one, "x", page.token()), cookie).status())
        .isEqualTo(303);
    assertThat(shop.exists(other)).isTrue();
    assertThat(shop.exists(recorded)).isTrue();
  }

  @Test
  void aUserWithoutARightCannotUseItWithAForm() throws IOException {
    UUID stuck = shop.row(CREATE_ORDER).stuck().insert();
    UUID recorded = shop.row(CREATE_ORDER).insert();
    byte[] secret = new byte[32];
    console =
        start(
            builder(ConsoleAccess.password("ann", ConsoleShop.PASSWORD, ConsoleShop.ALL))
                .formSecret(secret));
    Reply freeing = get("operation?id=" + stuck);
    Reply forgetting =
        new Request("operation?id=" + recorded).ann().cookie(freeing.cookie()).send();
    console =
        start(
            builder(
                    ConsoleAccess.password(
                        "ann", ConsoleShop.PASSWORD, Set.of(AdminAction.VIEW, AdminAction.FREE)))
                .formSecret(secret));

    for (String page : List.of("check", "perform")) {
      assertThat(
              post(page, form("forget", recorded, "x", forgetting.token()), freeing.cookie())
                  .status())
          .isEqualTo(403);
    }
    assertThat(get("audit").status()).isEqualTo(403);
    assertThat(get("operation?id=" + stuck).body())
        .contains("Free the reservation")
        .doesNotContain("Audit");
    console =
        start(
            builder(
                    ConsoleAccess.password(
                        "ann",
                        ConsoleShop.PASSWORD,
                        EnumSet.complementOf(EnumSet.of(AdminAction.VIEW))))
                .formSecret(secret));
    for (String page : List.of("", "operation?id=" + stuck, "audit")) {
      assertThat(get(page).status()).isEqualTo(403);
    }
    assertThat(
            post("perform", form("free", stuck, "x", freeing.token()), freeing.cookie()).status())
        .isEqualTo(403);
    assertThat(shop.exists(stuck)).isTrue();
    assertThat(shop.exists(recorded)).isTrue();
  }

  @Test
  void aForgedLinkShowsNoSuccessMessage() throws IOException {
    UUID id = shop.row(CREATE_ORDER).stuck().insert();

    assertThat(get("operation?id=" + id + "&done=free&token=x").body()).doesNotContain("Freed");
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
    assertThat(get("").header("Set-Cookie"))
        .contains("; HttpOnly", "; SameSite=Strict", "; Path=/;");
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
    assertThat(post("find", Map.of("key", "x".repeat(20_000)), "").status()).isEqualTo(413);
    assertThat(post("perform", Map.of("act", "drop"), "").status()).isEqualTo(400);
    assertThat(post("perform", Map.of("act", "free", "operation", "1"), "").status())
        .isEqualTo(400);
  }

  @Test
  void anUnreachableDatabaseIsReportedWithoutDetails() throws IOException {
    PGSimpleDataSource nowhere = new PGSimpleDataSource();
    nowhere.setUrl("jdbc:postgresql://localhost:1/none?user=nobody");
    console =
        start(
            Console.builder(
                Administration.on(nowhere),
                ConsoleAccess.password("ann", ConsoleShop.PASSWORD, ConsoleShop.ALL)));

    Reply reply = get("");

    assertThat(reply.status()).isEqualTo(503);
    assertThat(reply.body())
        .contains("cannot be reached, or refused the request")
        .doesNotContain("localhost", "nobody");
  }

  @Test
  void theHostsOwnServerCanServeItUnderAPath() throws IOException {
    UUID id = shop.row(CREATE_ORDER).stuck().insert();
    HttpServer host =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    host.createContext(
        "/ops/idempotency/",
        Console.builder(
                administration,
                exchange -> Optional.of(new ConsoleUser("a host's user", ConsoleShop.ALL)))
            .handler());
    host.start();
    opened.add(() -> host.stop(0));
    URI root = URI.create("http://localhost:" + host.getAddress().getPort() + "/ops/idempotency/");

    Reply overview = new Request(root, "").send();
    assertThat(overview.body()).contains("href=\"/ops/idempotency/operation?id=" + id);
    assertThat(overview.header("Set-Cookie")).contains("Path=/ops/idempotency/;");
    Reply page = new Request(root, "operation?id=" + id).cookie(overview.cookie()).send();
    Reply done =
        new Request(root, "perform")
            .cookie(overview.cookie())
            .form(form("free", id, "x", page.token()))
            .send();
    assertThat(done.header("Location")).startsWith("/ops/idempotency/operation?id=" + id);
    assertThat(shop.exists(id)).isFalse();
  }

  @Test
  @Timeout(20)
  void connectionsThatSendOneByteDoNotKeepOthersWaiting() throws IOException {
    for (int i = 0; i < 8; i++) {
      Socket slow = new Socket(console.uri().getHost(), console.uri().getPort());
      opened.add(slow);
      slow.getOutputStream().write('G');
    }

    assertThat(get("").status()).isEqualTo(200);
  }

  @Test
  void itListensOnTheLoopbackAddressByDefault() throws IOException {
    assertThat(console.uri().getHost()).isEqualTo("localhost");
    assertThatThrownBy(() -> ConsoleAccess.password("ann", "short", ConsoleShop.ALL))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> ConsoleAccess.password("a:b", ConsoleShop.PASSWORD, ConsoleShop.ALL))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> builder(exchange -> Optional.empty()).formSecret(new byte[31]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new ConsoleUser(" ", ConsoleShop.ALL))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private Console.Builder builder(ConsoleAccess access) {
    return Console.builder(administration, access);
  }

  private Console start(Console.Builder builder) throws IOException {
    Console started =
        builder.address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).start();
    opened.add(started);
    return started;
  }

  private static Map<String, String> form(String act, UUID id, String reason, String token) {
    Map<String, String> form = new LinkedHashMap<>();
    form.put("act", act);
    form.put("operation", id.toString());
    form.put("reason", reason);
    form.put("token", token);
    return form;
  }

  private Reply get(String page) throws IOException {
    return new Request(page).ann().send();
  }

  private Reply post(String page, Map<String, String> form, String cookie) throws IOException {
    return new Request(page).ann().cookie(cookie).form(form).send();
  }

  /** Sends what no client of Java would. */
  private String raw(String head) throws IOException {
    String login =
        Base64.getEncoder().encodeToString(("ann:" + ConsoleShop.PASSWORD).getBytes(UTF_8));
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

    String cookie() {
      return header("Set-Cookie").replaceFirst(";.*", "");
    }

    /** Returns the token of the page's last form. */
    String token() {
      Matcher tokens = TOKEN.matcher(body);
      String last = "";
      while (tokens.find()) {
        last = tokens.group(1);
      }
      return last;
    }
  }

  /** A request, by a client that follows nothing and keeps nothing. */
  private final class Request {
    private final HttpRequest.Builder request;

    Request(String page) {
      this(console.uri(), page);
    }

    Request(URI root, String page) {
      request = HttpRequest.newBuilder(URI.create(root + page));
    }

    Request ann() {
      return credentials("ann:" + ConsoleShop.PASSWORD);
    }

    Request credentials(String text) {
      return header(
          "Authorization", "Basic " + Base64.getEncoder().encodeToString(text.getBytes(UTF_8)));
    }

    Request cookie(String cookie) {
      return cookie.isEmpty() ? this : header("Cookie", "other=1; " + cookie);
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
