package io.github.grpcidempotency.console;

import static io.github.grpcidempotency.console.Html.element;
import static io.github.grpcidempotency.console.Html.foreign;
import static io.github.grpcidempotency.console.Html.text;

import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.OperationPage;
import io.github.grpcidempotency.admin.OperationQuery;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.Statistics;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** The table in numbers, a field to search by, and lists of operations. */
final class OverviewPage {
  static final String TITLE = "Operations";
  static final String FIND = "find";
  private static final int PAGE_SIZE = 50;

  private final Visit visit;
  private final Administration administration;

  OverviewPage(Visit visit, Administration administration) {
    this.visit = visit;
    this.administration = administration;
  }

  Html html() {
    OperationView view = OperationView.named(visit.fields().text("view"));
    return Layout.page(
        visit,
        TITLE,
        element("h1").with(TITLE),
        numbers(administration.statistics()),
        search(),
        list(view));
  }

  /** Shows what was found, if it is not exactly one. */
  Html found(List<OperationRecord> operations) {
    String title = "Operations of this key";
    return Layout.page(
        visit,
        title,
        element("h1").with(title),
        operations.isEmpty()
            ? Layout.notice(
                "problem",
                text(
                    "Nothing is recorded under this id or key: it never came, its call has failed"
                        + " and released it, it runs in a transaction that has not committed, or it"
                        + " has expired and was swept. A key of a tenant is found only with its"
                        + " tenant and project."))
            : table("Found", operations),
        search());
  }

  private static Html numbers(Statistics statistics) {
    return element("dl")
        .as("numbers")
        .attribute("aria-label", "The table in numbers")
        .with(
            number("In flight", Words.count(statistics.inFlight()), false),
            number("Stuck", Words.count(statistics.stuck()), statistics.stuck() > 0),
            number("Unknown", Words.count(statistics.unknown()), statistics.unknown() > 0),
            number("Oldest in flight", span(statistics.oldestInFlight()), false),
            number("Records", "≈ " + Words.count(Math.max(0, statistics.rows())), false),
            number("Size", Words.size(statistics.bytes()), false),
            number(
                "Expired",
                Words.count(statistics.expired()) + (statistics.expiredIsMore() ? "+" : ""),
                false),
            number("Sweep lag", span(statistics.sweepLag()), false));
  }

  private static Html number(String name, String value, boolean alarming) {
    return element("div")
        .as(alarming ? "alarming" : "quiet")
        .with(element("dt").with(name), element("dd").with(value));
  }

  private static String span(Optional<Duration> duration) {
    return duration.map(Words::span).orElse("–");
  }

  private Html search() {
    return element("section")
        .attribute("aria-labelledby", "search")
        .with(
            element("h2").attribute("id", "search").with("Find"),
            visit
                .form(FIND, FIND)
                .as("row")
                .with(
                    Layout.field(
                        "key", "Key or operation id", "what the client or a log names", "", true),
                    Layout.field(
                        "namespace",
                        "Tenant and project",
                        "acme/apollo or acme/-, if any",
                        "",
                        false),
                    element("button").with("Find")));
  }

  private Html list(OperationView view) {
    OperationPage page = administration.list(query(view));
    List<OperationRecord> shown = page.operations();
    return element("section")
        .attribute("aria-labelledby", "list")
        .with(
            element("h2").attribute("id", "list").with(view.title()),
            element("nav")
                .as("views")
                .attribute("aria-label", "Lists")
                .with(Stream.of(OperationView.values()).map(each -> tab(each, view))),
            filter(view),
            shown.isEmpty()
                ? element("p").as("none").with(view.none())
                : table(view.title(), shown),
            page.next().map(end -> next(view, end)).orElse(Html.NOTHING));
  }

  private Html next(OperationView view, String end) {
    return element("p")
        .with(
            element("a")
                .attribute("href", address(view, Optional.of(end)))
                .attribute("rel", "next")
                .with("More"));
  }

  private OperationQuery query(OperationView view) {
    try {
      return new OperationQuery(
          view.states(),
          visit.fields().given("procedure"),
          visit.fields().given("namespace"),
          Optional.empty(),
          Optional.empty(),
          view.expiringWithin(),
          visit.fields().given("after"),
          PAGE_SIZE);
    } catch (IllegalArgumentException malformed) {
      throw new HttpError(400, "This is not a page of this list.");
    }
  }

  private Html tab(OperationView each, OperationView current) {
    Html.Element link =
        element("a").attribute("href", address(each, Optional.empty())).with(each.title());
    return each == current ? link.attribute("aria-current", "true") : link;
  }

  private String address(OperationView view, Optional<String> after) {
    StringBuilder address = new StringBuilder(visit.base()).append("?view=").append(view.id());
    Stream.of("procedure", "namespace")
        .forEach(
            name ->
                visit
                    .fields()
                    .given(name)
                    .ifPresent(
                        value ->
                            address
                                .append('&')
                                .append(name)
                                .append('=')
                                .append(URLEncoder.encode(value, StandardCharsets.UTF_8))));
    after.ifPresent(
        end -> address.append("&after=").append(URLEncoder.encode(end, StandardCharsets.UTF_8)));
    return address.toString();
  }

  private Html filter(OperationView view) {
    return element("form")
        .as("row filter")
        .attribute("method", "get")
        .attribute("action", visit.base())
        .with(
            Visit.hidden("view", view.id()),
            only("procedure", "Only this method"),
            only("namespace", "Only this tenant"),
            element("button").as("second").with("Filter"));
  }

  private Html only(String name, String label) {
    return Layout.field(name, label, "", visit.fields().text(name), false);
  }

  private Html table(String caption, List<OperationRecord> operations) {
    return Layout.table(
        caption,
        Layout.heads("State", "Age", "Lease", "Method", "Operation", "Tenant", "Server", "Attempt"),
        Html.all(operations.stream().map(this::row).toList()));
  }

  private Html row(OperationRecord operation) {
    return element("tr")
        .with(
            cell(Layout.state(operation.state())),
            cell(text(Words.span(Duration.between(operation.created(), operation.read())))),
            cell(text(lease(operation))),
            cell(element("code").with(foreign(operation.procedure()))),
            cell(Layout.link(visit, operation)),
            cell(foreign(operation.namespace())),
            cell(foreign(operation.server().orElse(""))),
            cell(text(String.valueOf(operation.attempt()))));
  }

  private static String lease(OperationRecord operation) {
    Function<Duration, String> words =
        left -> left.isNegative() ? "ended " + Words.span(left) + " ago" : Words.span(left);
    return operation.completed().isPresent()
        ? ""
        : operation
            .leaseExpires()
            .map(end -> Duration.between(operation.read(), end))
            .map(words)
            .orElse("");
  }

  private static Html cell(Html content) {
    return element("td").with(content);
  }
}
