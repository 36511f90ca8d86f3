package io.github.grpcidempotency.admin.console;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpsExchange;
import io.github.grpcidempotency.admin.AdminAction;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.AuditEntry;
import io.github.grpcidempotency.admin.AuditQuery;
import io.github.grpcidempotency.admin.OperationRecord;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the console.
 *
 * <ol>
 *   <li>The name in the browser's header {@code Host} must be allowed. Otherwise, a page of another
 *       site could read all answers by DNS rebinding.
 *   <li>The host's {@link ConsoleAccess} returns the user and the user's actions.
 *   <li>A form must come from a page of this console, for this user and purpose.
 * </ol>
 */
final class ConsoleHandler implements HttpHandler {
  private static final Logger logger = LoggerFactory.getLogger(Console.class);
  private static final String COOKIE = "idempotency-console";
  private static final String POLICY =
      "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none';"
          + " frame-ancestors 'none'";

  private final Administration administration;
  private final ConsoleAccess access;
  private final OwnNames names;
  private final FormTokens tokens;
  private final Optional<String> traceLink;
  private final String style = styleSheet();

  ConsoleHandler(
      Administration administration,
      ConsoleAccess access,
      OwnNames names,
      FormTokens tokens,
      Optional<String> traceLink) {
    this.administration = administration;
    this.access = access;
    this.names = names;
    this.tokens = tokens;
    this.traceLink = traceLink;
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      send(exchange, answer(exchange));
    }
  }

  /** Returns the path of the host's context, with a slash at its end. */
  private static String base(HttpExchange exchange) {
    String path = exchange.getHttpContext().getPath();
    return path.endsWith("/") ? path : path + "/";
  }

  private Answer answer(HttpExchange exchange) throws IOException {
    String base = base(exchange);
    Optional<Visit> visit = Optional.empty();
    try {
      if (!names.isOurs(exchange.getRequestHeaders().getFirst("Host"))) {
        throw new HttpError(
            421,
            "This console cannot be used under this host name. Its operator can allow more"
                + " names with Console.Builder.hostName.");
      }
      ConsoleUser user = authenticate(exchange);
      String session = session(exchange);
      visit = Optional.of(new Visit(base, user, session, tokens, traceLink, new Fields(Map.of())));
      return route(exchange, new Visit(base, user, session, tokens, traceLink, fields(exchange)));
    } catch (HttpError error) {
      return Answer.page(error.status(), Layout.error(base, visit, error));
    } catch (RuntimeException failure) {
      logger.error("the console could not answer a request", failure);
      return Answer.page(
          503,
          Layout.error(
              base,
              visit,
              new HttpError(
                  503,
                  "The database cannot be reached, or refused the request. The log of this server"
                      + " contains the reason.")));
    }
  }

  private ConsoleUser authenticate(HttpExchange exchange) {
    Optional<ConsoleUser> user;
    try {
      user = access.authenticate(exchange);
    } catch (RuntimeException refused) {
      logger.warn("the console's authentication has failed, so the request was refused", refused);
      user = Optional.empty();
    }
    return user.orElseThrow(
        () -> {
          Optional<String> challenge = access.challenge();
          challenge.ifPresent(
              value -> exchange.getResponseHeaders().set("WWW-Authenticate", value));
          return new HttpError(
              challenge.isPresent() ? 401 : 403,
              "You are not authenticated, or not allowed to use this console.");
        });
  }

  private Answer route(HttpExchange exchange, Visit visit) {
    String path = exchange.getRequestURI().getPath();
    if (!path.startsWith(visit.base())) {
      throw new HttpError(404, "There is no such page.");
    }
    visit.demand(AdminAction.VIEW);
    boolean form = exchange.getRequestMethod().equals("POST");
    return switch ((form ? "POST " : "") + path.substring(visit.base().length())) {
      case "" -> Answer.page(200, new OverviewPage(visit, administration).html());
      case Layout.STYLE -> Answer.style(style);
      case DetailPage.PATH ->
          new DetailPage(visit, administration)
              .answer(
                  visit
                      .fields()
                      .id("id")
                      .orElseThrow(() -> new HttpError(400, "An operation's id must be a UUID.")));
      case AuditPage.PATH -> {
        visit.demand(AdminAction.AUDIT);
        yield Answer.page(200, AuditPage.of(visit, administration));
      }
      case "POST " + OverviewPage.FIND -> find(visit);
      case "POST " + DetailPage.CHECK -> new ConfirmPage(visit, administration).check();
      case "POST " + ConfirmPage.PERFORM -> new ConfirmPage(visit, administration).perform();
      default -> throw new HttpError(404, "There is no such page.");
    };
  }

  /** A key is sent as a form, because browsers and logs keep addresses. */
  private Answer find(Visit visit) {
    visit.checkToken(OverviewPage.FIND);
    Optional<UUID> id = visit.fields().id("key");
    String key = id.map(UUID::toString).orElse(visit.fields().text("key")); // in canonical form
    Optional<String> tenant = visit.fields().given("tenant");
    Map<UUID, OperationRecord> found = new LinkedHashMap<>();
    Stream.concat(
            id.flatMap(administration::find).stream(),
            key.isEmpty() ? Stream.empty() : administration.findKey(key, tenant).stream())
        .forEach(operation -> found.put(operation.id(), operation));
    List<AuditEntry> acts =
        key.isEmpty() || !visit.may(AdminAction.AUDIT)
            ? List.of()
            : administration.audit(AuditQuery.newest(100).ofKey(key, tenant, Optional.empty()));
    if (found.size() == 1) {
      OperationRecord only = found.values().iterator().next();
      if (acts.stream().allMatch(act -> act.userId().equals(Optional.of(only.userId())))) {
        return Answer.seeOther(visit.base() + DetailPage.PATH + "?id=" + only.id());
      }
    }
    return Answer.page(
        found.isEmpty() ? 404 : 200,
        new OverviewPage(visit, administration)
            .found(List.copyOf(found.values()), AuditPage.history(acts)));
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

  /** Returns the session of the browser; creates one if there is none. */
  private String session(HttpExchange exchange) {
    return exchange.getRequestHeaders().getOrDefault("Cookie", List.of()).stream()
        .flatMap(header -> Stream.of(header.split(";", -1)))
        .map(String::strip)
        .filter(cookie -> cookie.startsWith(COOKIE + "="))
        .map(cookie -> cookie.substring(COOKIE.length() + 1))
        .filter(FormTokens::isSession)
        .findFirst()
        .orElseGet(
            () -> {
              String made = tokens.newSession();
              exchange
                  .getResponseHeaders()
                  .add(
                      "Set-Cookie",
                      "%s=%s; Path=%s; HttpOnly; SameSite=Strict%s"
                          .formatted(
                              COOKIE,
                              made,
                              base(exchange),
                              exchange instanceof HttpsExchange ? "; Secure" : ""));
              return made;
            });
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
    try (InputStream file = ConsoleHandler.class.getResourceAsStream(Layout.STYLE)) {
      if (file == null) {
        throw new IllegalStateException(Layout.STYLE + " is missing");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
