package io.github.grpcidempotency.admin.console;

import static io.github.grpcidempotency.admin.console.Layout.foreign;
import static j2html.TagCreator.a;
import static j2html.TagCreator.code;
import static j2html.TagCreator.each;
import static j2html.TagCreator.h1;
import static j2html.TagCreator.h2;
import static j2html.TagCreator.iff;
import static j2html.TagCreator.p;
import static j2html.TagCreator.section;
import static j2html.TagCreator.td;
import static j2html.TagCreator.tr;

import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.AuditEntry;
import j2html.tags.DomContent;
import j2html.tags.specialized.HtmlTag;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** The page with the actions of operators. */
final class AuditPage {
  static final String TITLE = "Audit";
  static final String PATH = "audit";
  private static final int NEWEST = 100;

  private AuditPage() {}

  static HtmlTag of(Visit visit, Administration administration) {
    List<AuditEntry> entries = administration.audit(Optional.empty(), Optional.empty(), NEWEST);
    return Layout.page(
        visit,
        TITLE,
        h1(TITLE),
        entries.isEmpty()
            ? p("No operator has done anything yet.").withClass("none")
            : Layout.table(
                "The newest " + NEWEST + " actions of operators",
                List.of("When", "Who", "Did", "Why", "Operation", "Database role"),
                each(entries, entry -> row(entry, td(operation(visit, entry))))));
  }

  /** Returns the actions on one operation; empty if there are none. */
  static Optional<DomContent> history(Administration administration, UUID operation) {
    return Optional.of(administration.audit(Optional.of(operation), Optional.empty(), NEWEST))
        .filter(entries -> !entries.isEmpty())
        .map(
            entries ->
                section(
                        h2("Actions of operators").withId("history"),
                        Layout.table(
                            "Actions on this operation",
                            List.of("When", "Who", "Did", "Why", "Database role"),
                            each(entries, entry -> row(entry))))
                    .attr("aria-labelledby", "history"));
  }

  private static DomContent row(AuditEntry entry, DomContent... operation) {
    return tr(
        td(Words.stamp(entry.at())),
        td(foreign(entry.actor())),
        td(act(entry)),
        td(foreign(entry.reason())).withClass("reason"),
        each(operation),
        td(foreign(entry.role())));
  }

  private static String act(AuditEntry entry) {
    String act =
        entry.act().replace('_', ' ')
            + (entry.forced() ? ", although its lease had not ended" : "");
    return entry.result().isSuccess()
        ? act
        : act + ": refused, " + entry.result().name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static DomContent operation(Visit visit, AuditEntry entry) {
    return iff(
        entry.operationId(),
        id -> a(code(id.toString())).withHref(visit.base() + DetailPage.PATH + "?id=" + id));
  }
}
