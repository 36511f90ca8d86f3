package io.github.grpcidempotency.admin.console;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.AuditEntry;
import io.github.grpcidempotency.admin.AuditQuery;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.RunningTransaction;
import io.github.grpcidempotency.admin.Scope;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the console.
 *
 * <ol>
 *   <li>The name in the browser's header {@code Host} must be one of the loopback address.
 *       Otherwise, a page of another site could read all answers by DNS rebinding.
 *   <li>The user must send the password.
 *   <li>A form must come from a page of this console.
 * </ol>
 */
final class ConsoleHandler implements HttpHandler {
  private static final Logger logger = LoggerFactory.getLogger(Console.class);
  private static final Pattern HOST =
      Pattern.compile("(localhost|127\\.0\\.0\\.1|\\[::1])(:[0-9]+)?", Pattern.CASE_INSENSITIVE);
  private static final String POLICY =
      "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none';"
          + " frame-ancestors 'none'";

  private final Administration administration;
  private final Visit.Session session;
  private final byte[] authorization;
  private final String style = styleSheet();

  ConsoleHandler(Administration administration, Visit.Session session, String password) {
    this.administration = administration;
    this.session = session;
    byte[] credentials = (session.actor() + ":" + password).getBytes(StandardCharsets.UTF_8);
    this.authorization =
        ("Basic " + Base64.getEncoder().encodeToString(credentials))
            .getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      send(exchange, answer(exchange));
    }
  }

  private Answer answer(HttpExchange exchange) throws IOException {
    try {
      checkHost(exchange);
      checkPassword(exchange);
    } catch (HttpError error) {
      return Answer.page(error.status(), Layout.error(Optional.empty(), error));
    }
    try {
      return route(exchange, new Visit(session, fields(exchange)));
    } catch (HttpError error) {
      return Answer.page(error.status(), Layout.error(Optional.of(session), error));
    } catch (Throwable failure) {
      logger.error("the console could not answer a request", failure);
      return Answer.page(
          503,
          Layout.error(
              Optional.of(session),
              new HttpError(
                  503,
                  "The database cannot be reached, or refused the request. The log of this server"
                      + " contains the reason.")));
    }
  }

  private static void checkHost(HttpExchange exchange) {
    String host = exchange.getRequestHeaders().getFirst("Host");
    if (host == null || !HOST.matcher(host).matches()) {
      throw new HttpError(421, "This console cannot be used under this host name.");
    }
  }

  private void checkPassword(HttpExchange exchange) {
    String given = exchange.getRequestHeaders().getFirst("Authorization");
    if (given == null
        || !MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), authorization)) {
      exchange
          .getResponseHeaders()
          .set("WWW-Authenticate", "Basic realm=\"idempotency\", charset=\"UTF-8\"");
      throw new HttpError(401, "The user name or the password is wrong.");
    }
  }

  private Answer route(HttpExchange exchange, Visit visit) {
    boolean form = exchange.getRequestMethod().equals("POST");
    return switch ((form ? "POST " : "") + exchange.getRequestURI().getPath()) {
      case "/" -> Answer.page(200, new OverviewPage(visit, administration).html());
      case Layout.STYLE -> Answer.style(style);
      case DetailPage.PATH ->
          new DetailPage(visit, administration)
              .answer(
                  visit
                      .fields()
                      .id("id")
                      .orElseThrow(() -> new HttpError(400, "An operation's id must be a UUID.")));
      case AuditPage.PATH -> Answer.page(200, AuditPage.of(visit, administration));
      case "POST " + OverviewPage.FIND -> find(visit);
      case "POST " + DetailPage.CHECK -> new ConfirmPage(visit, administration).check();
      case "POST " + ConfirmPage.PERFORM -> new ConfirmPage(visit, administration).perform();
      default -> throw new HttpError(404, "There is no such page.");
    };
  }

  /** A key is sent as a form, because browsers and logs keep addresses. */
  private Answer find(Visit visit) {
    visit.checkToken();
    Optional<UUID> id = visit.fields().id("key");
    String key = id.map(UUID::toString).orElse(visit.fields().text("key")); // in canonical form
    Scope scope = visit.fields().scope();
    Optional<UUID> user = visit.fields().user("user");
    Map<UUID, OperationRecord> found = new LinkedHashMap<>();
    Stream.concat(
            id.flatMap(administration::find).stream(),
            key.isEmpty() ? Stream.empty() : administration.findKey(key, scope).stream())
        .filter(operation -> user.isEmpty() || user.get().equals(operation.userId()))
        .forEach(operation -> found.put(operation.id(), operation));
    List<AuditEntry> acts =
        key.isEmpty()
            ? List.of()
            : administration.audit(AuditQuery.newest(100).ofKey(key, scope, user));
    if (found.size() == 1) {
      OperationRecord only = found.values().iterator().next();
      if (acts.stream().allMatch(act -> act.userId().equals(Optional.of(only.userId())))) {
        return Answer.seeOther(DetailPage.PATH + "?id=" + only.id());
      }
    }
    List<RunningTransaction> running =
        user.filter(known -> found.isEmpty())
            .map(known -> administration.transactions(key, scope, known))
            .orElse(List.of());
    return Answer.page(
        found.isEmpty() && running.isEmpty() ? 404 : 200,
        new OverviewPage(visit, administration)
            .found(List.copyOf(found.values()), running, AuditPage.history(acts)));
  }

  private static Fields fields(HttpExchange exchange) throws IOException {
    String method = exchange.getRequestMethod();
    if (method.equals("GET") || method.equals("HEAD")) {
      return Fields.of(Optional.ofNullable(exchange.getRequestURI().getRawQuery()));
    }
    if (!method.equals("POST")) {
      exchange.getResponseHeaders().set("Allow", "GET, HEAD, POST");
      throw new HttpError(405, "This page cannot be requested with this method.");
    }
    Headers headers = exchange.getRequestHeaders();
    String site = headers.getFirst("Sec-Fetch-Site");
    if (site != null && !site.equals("same-origin")) {
      throw new HttpError(403, "This form was sent from another site.");
    }
    String type = headers.getFirst("Content-Type");
    if (type == null || !type.startsWith("application/x-www-form-urlencoded")) {
      throw new HttpError(415, "This is not a form.");
    }
    return Fields.read(exchange.getRequestBody());
  }

  private static void send(HttpExchange exchange, Answer answer) throws IOException {
    Headers headers = exchange.getResponseHeaders();
    headers.set("Content-Type", answer.type());
    headers.set("Content-Security-Policy", POLICY);
    headers.set("X-Frame-Options", "DENY");
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set("Referrer-Policy", "same-origin");
    headers.set("Cross-Origin-Opener-Policy", "same-origin");
    headers.set("Cross-Origin-Resource-Policy", "same-origin");
    headers.set("Cache-Control", "no-store");
    answer.location().ifPresent(location -> headers.set("Location", location));
    byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
    boolean bodiless = exchange.getRequestMethod().equals("HEAD") || body.length == 0;
    exchange.sendResponseHeaders(answer.status(), bodiless ? -1 : body.length);
    if (!bodiless) {
      exchange.getResponseBody().write(body);
    }
  }

  private static String styleSheet() {
    try (InputStream file = ConsoleHandler.class.getResourceAsStream("console.css")) {
      if (file == null) {
        throw new IllegalStateException("console.css is missing");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
