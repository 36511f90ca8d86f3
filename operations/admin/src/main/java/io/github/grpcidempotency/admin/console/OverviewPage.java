package io.github.grpcidempotency.admin.console;

import static io.github.grpcidempotency.admin.console.Layout.foreign;
import static j2html.TagCreator.a;
import static j2html.TagCreator.button;
import static j2html.TagCreator.code;
import static j2html.TagCreator.dd;
import static j2html.TagCreator.div;
import static j2html.TagCreator.dl;
import static j2html.TagCreator.dt;
import static j2html.TagCreator.each;
import static j2html.TagCreator.form;
import static j2html.TagCreator.h1;
import static j2html.TagCreator.h2;
import static j2html.TagCreator.iff;
import static j2html.TagCreator.nav;
import static j2html.TagCreator.p;
import static j2html.TagCreator.section;
import static j2html.TagCreator.td;
import static j2html.TagCreator.tr;

import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.OperationPage;
import io.github.grpcidempotency.admin.OperationQuery;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.RunningTransaction;
import io.github.grpcidempotency.admin.Statistics;
import j2html.tags.DomContent;
import j2html.tags.specialized.HtmlTag;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** The start page: figures of the table, a search field, and lists of operations. */
final class OverviewPage {
  static final String TITLE = "Operations";
  static final String FIND = "/find";
  private static final int PAGE_SIZE = 50;

  /** The fields that restrict the list, with their labels. */
  private static final Map<String, String> FILTERS = new LinkedHashMap<>();

  static {
    FILTERS.put("procedure", "Method");
    FILTERS.put("tenant", "Tenant");
    FILTERS.put("project", "Project");
    FILTERS.put("user", "User");
    FILTERS.put("server", "Server");
    FILTERS.put("older_than", "Older than");
    FILTERS.put("newer_than", "Newer than");
  }

  private final Visit visit;
  private final Administration administration;

  OverviewPage(Visit visit, Administration administration) {
    this.visit = visit;
    this.administration = administration;
  }

  HtmlTag html() {
    OperationView view = OperationView.named(visit.fields().text("view"));
    return Layout.page(
        visit, TITLE, h1(TITLE), numbers(administration.statistics()), search(), list(view));
  }

  /** Shows the search result, if it is not exactly one operation. */
  HtmlTag found(
      List<OperationRecord> operations,
      List<RunningTransaction> running,
      Optional<DomContent> history) {
    String title = "Operations of this key";
    return Layout.page(
        visit,
        title,
        h1(title),
        each(running, transaction -> Layout.notice("done", transaction.meaning())),
        iff(operations.isEmpty() && running.isEmpty(), nothing()),
        iff(!operations.isEmpty(), table("Found", operations)),
        iff(history, acts -> acts),
        search());
  }

  private static DomContent nothing() {
    return Layout.notice(
        "problem",
        "There is no record with this id or key. Possible reasons: the call never arrived; it"
            + " failed and released its key; it runs in a transaction that has not committed, which"
            + " is found if its user is given; or its record expired and was swept.");
  }

  private static DomContent numbers(Statistics statistics) {
    return dl(
            count("In flight", statistics, Statistics.InFlight::all, false),
            count("Stuck", statistics, Statistics.InFlight::stuck, true),
            count("Unknown", statistics, Statistics.InFlight::unknown, true),
            number(
                "Oldest in flight",
                span(statistics.inFlight().flatMap(Statistics.InFlight::oldest)),
                false),
            number("Records", "≈ " + Words.count(Math.max(0, statistics.rows())), false),
            number("Size", Words.size(statistics.bytes()), false),
            number(
                "Expired",
                Words.count(statistics.expired()) + (statistics.expiredIsMore() ? "+" : ""),
                false),
            number("Sweep lag", span(statistics.sweepLag()), false),
            number("Locks of keys", Words.count(statistics.keyLocks()), false))
        .withClass("numbers")
        .attr("aria-label", "Figures of the table");
  }

  /** Reservations are not counted if there is no index for them. */
  private static DomContent count(
      String name,
      Statistics statistics,
      ToLongFunction<Statistics.InFlight> figure,
      boolean alarming) {
    return statistics
        .inFlight()
        .map(figure::applyAsLong)
        .map(count -> number(name, Words.count(count), alarming && count > 0))
        .orElseGet(() -> number(name, "not indexed", false));
  }

  private static DomContent number(String name, String value, boolean alarming) {
    return div(dt(name), dd(value)).withClass(alarming ? "alarming" : "quiet");
  }

  private static String span(Optional<Duration> duration) {
    return duration.map(Words::span).orElse("–");
  }

  private DomContent search() {
    return section(
            h2("Find").withId("search"),
            visit
                .form(FIND)
                .withClass("row")
                .with(
                    Layout.field(
                        "key",
                        "Key or operation id",
                        "as in the client's request, or in a log",
                        "",
                        true),
                    Layout.field("tenant", "Tenant", "", "", false),
                    Layout.field("project", "Project", "", "", false),
                    Layout.field("user", "User", "", "", false),
                    button("Find")))
        .attr("aria-labelledby", "search");
  }

  private DomContent list(OperationView view) {
    OperationPage page = administration.list(query(view));
    List<OperationRecord> shown = page.operations();
    return section(
            h2(view.title()).withId("list"),
            nav(each(List.of(OperationView.values()), each -> tab(each, view)))
                .withClass("views")
                .attr("aria-label", "Lists"),
            filter(view),
            iff(view.isOfReservations(), transactional()),
            shown.isEmpty() ? p(none(view, page)).withClass("none") : table(view.title(), shown),
            iff(page.next(), end -> next(view, end)))
        .attr("aria-labelledby", "list");
  }

  /** An empty page is good news only if nothing restricts the list, and nothing follows. */
  private String none(OperationView view, OperationPage page) {
    if (page.next().isPresent()) {
      return "No operation of this page matches, and there are more.";
    }
    return FILTERS.keySet().stream().anyMatch(name -> visit.fields().given(name).isPresent())
        ? "No operation matches."
        : view.none();
  }

  private static DomContent transactional() {
    return p("Transactional calls are not listed, because they have no row before they commit. While"
            + " one runs, it holds the lock of its key.")
        .withClass("none");
  }

  private DomContent next(OperationView view, String end) {
    return p(a("More").withHref(address(view, Optional.of(end))).withRel("next"));
  }

  private OperationQuery query(OperationView view) {
    try {
      return new OperationQuery(
          view.states(),
          visit.fields().given("procedure"),
          visit.fields().scope(),
          visit.fields().user("user"),
          visit.fields().given("server"),
          visit.fields().duration("older_than"),
          visit.fields().duration("newer_than"),
          view.expiringWithin(),
          visit.fields().given("after"),
          PAGE_SIZE);
    } catch (IllegalArgumentException malformed) {
      throw new HttpError(400, "The page token is not valid for this list.");
    }
  }

  private DomContent tab(OperationView each, OperationView current) {
    return a(each.title())
        .withHref(address(each, Optional.empty()))
        .condAttr(each == current, "aria-current", "true");
  }

  private String address(OperationView view, Optional<String> after) {
    StringBuilder address = new StringBuilder("/?view=").append(view.id());
    FILTERS
        .keySet()
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

  private DomContent filter(OperationView view) {
    return form(
            Visit.hidden("view", view.id()),
            each(FILTERS.entrySet(), only -> only(only.getKey(), only.getValue())),
            button("Filter").withClass("second"))
        .withClass("row filter")
        .withMethod("get")
        .withAction("/");
  }

  private DomContent only(String name, String label) {
    String hint = name.endsWith("_than") ? "15m, 2h or 1d" : "";
    return Layout.field(name, label, hint, visit.fields().text(name), false);
  }

  private static DomContent table(String caption, List<OperationRecord> operations) {
    return Layout.table(
        caption,
        List.of(
            "State",
            "Age",
            "Lease",
            "Method",
            "Operation",
            "Tenant",
            "Project",
            "Server",
            "Attempt"),
        each(operations, OverviewPage::row));
  }

  private static DomContent row(OperationRecord operation) {
    return tr(
        td(Layout.state(operation.state())),
        td(Words.span(operation.age())),
        td(lease(operation)),
        td(code(foreign(operation.procedure()))),
        td(Layout.link(operation)),
        td(foreign(operation.tenant())),
        td(foreign(operation.project())),
        td(foreign(operation.server().orElse(""))),
        td(String.valueOf(operation.attempt())));
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
}
