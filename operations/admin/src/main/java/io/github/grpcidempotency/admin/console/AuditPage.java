package io.github.grpcidempotency.admin.console;

import static io.github.grpcidempotency.admin.console.Layout.foreign;
import static j2html.TagCreator.a;
import static j2html.TagCreator.button;
import static j2html.TagCreator.code;
import static j2html.TagCreator.each;
import static j2html.TagCreator.form;
import static j2html.TagCreator.h1;
import static j2html.TagCreator.h2;
import static j2html.TagCreator.iff;
import static j2html.TagCreator.p;
import static j2html.TagCreator.section;
import static j2html.TagCreator.td;
import static j2html.TagCreator.tr;

import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.AuditEntry;
import io.github.grpcidempotency.admin.AuditQuery;
import io.github.grpcidempotency.admin.OperationRecord;
import j2html.tags.DomContent;
import j2html.tags.specialized.HtmlTag;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** The page with the actions of operators. */
final class AuditPage {
  static final String TITLE = "Audit";
  static final String PATH = "/audit";
  private static final int NEWEST = 100;

  private AuditPage() {}

  static HtmlTag of(Visit visit, Administration administration) {
    Fields fields = visit.fields();
    List<AuditEntry> entries = administration.audit(query(fields));
    return Layout.page(
        visit,
        TITLE,
        h1(TITLE),
        filter(visit),
        entries.isEmpty()
            ? p("No operator has done anything that matches.").withClass("none")
            : Layout.table(
                "Actions of operators",
                List.of("When", "Who", "Did", "Why", "Operation", "Database role"),
                each(entries, entry -> row(entry, td(operation(entry))))),
        each(entries.stream().skip(NEWEST - 1).toList(), last -> p(next(visit, last.id()))));
  }

  private static AuditQuery query(Fields fields) {
    try {
      return new AuditQuery(
          fields.id("operation"),
          Optional.empty(),
          fields.scope(),
          fields.user("user"),
          fields.given("actor"),
          fields.given("act"),
          fields.time("since"),
          fields.time("until"),
          fields.given("before").map(AuditPage::number),
          NEWEST);
    } catch (IllegalArgumentException noSuchAct) {
      throw new HttpError(400, "Of the kinds, " + noSuchAct.getMessage() + ".");
    }
  }

  private static DomContent filter(Visit visit) {
    Fields fields = visit.fields();
    return form(
            Layout.field("actor", "Operator", "ann", fields.text("actor"), false),
            Layout.field("act", "Action", "free", fields.text("act"), false),
            Layout.field("user", "User", "", fields.text("user"), false),
            Layout.time("since", "Since (UTC)", fields.text("since")),
            Layout.time("until", "Until (UTC)", fields.text("until")),
            button("Filter").withClass("second"))
        .withClass("row filter")
        .withMethod("get")
        .withAction(PATH);
  }

  private static DomContent next(Visit visit, long last) {
    return a("More").withHref(visit.address(PATH, "before", String.valueOf(last))).withRel("next");
  }

  private static long number(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException malformed) {
      throw new HttpError(400, "The page token is not valid for this list.");
    }
  }

  /** Returns the actions on one operation and on its key; empty if there are none. */
  static Optional<DomContent> history(
      Administration administration, UUID operation, Optional<OperationRecord> found) {
    List<AuditEntry> entries =
        administration.audit(
            found
                .map(AuditQuery.newest(NEWEST)::ofKeyOf)
                .orElseGet(() -> AuditQuery.newest(NEWEST).ofOperation(operation)));
    return history("Actions of operators", entries, Optional.of(operation));
  }

  /** Returns the actions on all operations of a key; empty if there are none. */
  static Optional<DomContent> history(List<AuditEntry> entries) {
    return history("Actions on operations of this key", entries, Optional.empty());
  }

  private static Optional<DomContent> history(
      String title, List<AuditEntry> entries, Optional<UUID> shown) {
    return Optional.of(entries)
        .filter(found -> !found.isEmpty())
        .map(
            found ->
                section(
                        h2(title).withId("history"),
                        Layout.table(
                            "Actions on this key",
                            List.of("When", "Who", "Did", "Why", "Operation", "Database role"),
                            each(found, entry -> row(entry, td(which(entry, shown))))))
                    .attr("aria-labelledby", "history"));
  }

  /** Returns which operation an action was on, with what is known of an earlier one. */
  private static DomContent which(AuditEntry entry, Optional<UUID> shown) {
    return entry.operationId().equals(shown)
        ? p("this one")
        : each(
            iff(entry.operationId(), id -> code(id.toString())),
            p("attempt %d%s%s%s"
                    .formatted(
                        entry.attempt().orElse(0),
                        shown.isPresent()
                            ? ""
                            : entry.userId().map(user -> " of " + user).orElse(""),
                        in(" in tenant ", entry.tenant()) + in(" in project ", entry.project()),
                        entry.servers().isEmpty()
                            ? ""
                            : " on " + String.join(", ", entry.servers())))
                .withClass("none"));
  }

  private static String in(String what, Optional<String> name) {
    return name.filter(given -> !given.isEmpty()).map(what::concat).orElse("");
  }

  private static DomContent row(AuditEntry entry, DomContent... operation) {
    return tr(
        td(Words.stamp(entry.at())),
        td(foreign(entry.actor())).withClass("wrapped"),
        td(act(entry)).withClass("wrapped"),
        td(foreign(entry.reason())).withClass("reason"),
        each(operation),
        td(foreign(entry.role()), foreign(entry.address().map(" "::concat).orElse("")))
            .withClass("wrapped"));
  }

  private static String act(AuditEntry entry) {
    String act =
        entry.act().replace('_', ' ')
            + (entry.forced() ? ", although its lease had not ended" : "")
            + (entry.operationId().isEmpty() ? ", %,d records".formatted(entry.deleted()) : "");
    return entry.result().isSuccess()
        ? act
        : act + ": refused, " + entry.result().name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static DomContent operation(AuditEntry entry) {
    return iff(
        entry.operationId(), id -> a(code(id.toString())).withHref(DetailPage.PATH + "?id=" + id));
  }
}
