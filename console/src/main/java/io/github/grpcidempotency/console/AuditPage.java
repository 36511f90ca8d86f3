package io.github.grpcidempotency.console;

import static io.github.grpcidempotency.console.Html.element;
import static io.github.grpcidempotency.console.Html.foreign;

import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.AuditEntry;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** What operators did. */
final class AuditPage {
  static final String TITLE = "Audit";
  static final String PATH = "audit";
  private static final int NEWEST = 100;

  private AuditPage() {}

  static Html of(Visit visit, Administration administration) {
    List<AuditEntry> entries = administration.audit(Optional.empty(), NEWEST);
    return Layout.page(
        visit,
        TITLE,
        element("h1").with(TITLE),
        entries.isEmpty()
            ? element("p").as("none").with("No operator has done anything yet.")
            : table(Optional.of(visit), "The newest " + NEWEST + " acts of operators", entries));
  }

  /** Returns what was done to one operation; nothing if nothing was. */
  static Html history(Administration administration, UUID operation) {
    List<AuditEntry> entries = administration.audit(Optional.of(operation), NEWEST);
    return entries.isEmpty()
        ? Html.NOTHING
        : element("section")
            .attribute("aria-labelledby", "history")
            .with(
                element("h2").attribute("id", "history").with("What operators did"),
                table(Optional.empty(), "Acts upon this operation", entries));
  }

  private static Html table(Optional<Visit> visit, String caption, List<AuditEntry> entries) {
    return Layout.table(
        caption,
        Html.all(
            Layout.heads("When", "Who", "Did", "Why"),
            visit.map(all -> Layout.heads("Operation")).orElse(Html.NOTHING),
            Layout.heads("Database role")),
        Html.all(entries.stream().map(entry -> row(visit, entry)).toList()));
  }

  private static Html row(Optional<Visit> visit, AuditEntry entry) {
    return element("tr")
        .with(
            element("td").with(Words.stamp(entry.at())),
            element("td").with(foreign(entry.actor())),
            element("td").with(act(entry)),
            element("td").as("reason").with(foreign(entry.reason())),
            visit.<Html>map(all -> element("td").with(operation(all, entry))).orElse(Html.NOTHING),
            element("td").with(foreign(entry.role())));
  }

  private static String act(AuditEntry entry) {
    String act = entry.act().replace('_', ' ') + (entry.forced() ? ", though its owner lived" : "");
    return entry.result().isSuccess()
        ? act
        : act + ": refused, " + entry.result().name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static Html operation(Visit visit, AuditEntry entry) {
    return entry
        .operationId()
        .<Html>map(
            id ->
                element("a")
                    .attribute("href", visit.base() + DetailPage.PATH + "?id=" + id)
                    .with(element("code").with(id.toString())))
        .orElse(Html.NOTHING);
  }
}
