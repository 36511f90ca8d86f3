package io.github.grpcidempotency.admin.console;

import static j2html.TagCreator.a;
import static j2html.TagCreator.bdi;
import static j2html.TagCreator.body;
import static j2html.TagCreator.caption;
import static j2html.TagCreator.code;
import static j2html.TagCreator.div;
import static j2html.TagCreator.each;
import static j2html.TagCreator.h1;
import static j2html.TagCreator.head;
import static j2html.TagCreator.header;
import static j2html.TagCreator.html;
import static j2html.TagCreator.iff;
import static j2html.TagCreator.input;
import static j2html.TagCreator.label;
import static j2html.TagCreator.main;
import static j2html.TagCreator.meta;
import static j2html.TagCreator.nav;
import static j2html.TagCreator.p;
import static j2html.TagCreator.span;
import static j2html.TagCreator.tbody;
import static j2html.TagCreator.text;
import static j2html.TagCreator.th;
import static j2html.TagCreator.thead;
import static j2html.TagCreator.title;
import static j2html.TagCreator.tr;

import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.OperationState;
import j2html.TagCreator;
import j2html.tags.DomContent;
import j2html.tags.specialized.HtmlTag;
import j2html.tags.specialized.PTag;
import java.util.List;
import java.util.Optional;

/** The common parts of all pages. */
final class Layout {
  static final String STYLE = "/console.css";

  private Layout() {}

  static HtmlTag page(Visit visit, String title, DomContent... content) {
    return document(title, Optional.of(visit.session()), content);
  }

  /** Returns an error page, also for users that are not authenticated. */
  static HtmlTag error(Optional<Visit.Session> session, HttpError error) {
    String title = error.status() == 404 ? "Not found" : "The request failed";
    return document(title, session, h1(title), notice("problem", error.text()));
  }

  /** Returns a highlighted message, which a screen reader reads immediately. */
  static PTag notice(String kind, String text) {
    return p(text)
        .withClass("notice " + kind)
        .attr("role", kind.equals("problem") ? "alert" : "status");
  }

  /** Returns text from clients or servers. Isolates its writing direction. */
  static DomContent foreign(String text) {
    return bdi(text);
  }

  static DomContent state(OperationState state) {
    String name = Words.state(state);
    return span(name).withClass("state " + name);
  }

  static DomContent link(OperationRecord operation) {
    return a(code(operation.id().toString())).withHref(DetailPage.PATH + "?id=" + operation.id());
  }

  /** Returns an input with its label. */
  static DomContent field(String name, String label, String hint, String value, boolean required) {
    return label(
        text(label),
        input()
            .withName(name)
            .withValue(value)
            .withPlaceholder(hint)
            .attr("autocomplete", "off")
            .attr("spellcheck", "false")
            .withCondRequired(required));
  }

  /** Returns an input of a time in UTC, with its label. */
  static DomContent time(String name, String label, String value) {
    return label(text(label), input().withType("datetime-local").withName(name).withValue(value));
  }

  /** Returns a table that scrolls horizontally in a narrow window. */
  static DomContent table(String caption, List<String> heads, DomContent rows) {
    return div(TagCreator.table(
            caption(caption),
            thead(tr(each(heads, head -> th(head).withScope("col")))),
            tbody(rows)))
        .withClass("scroll")
        .attr("role", "group") // a landmark would have the name of its section
        .attr("aria-label", caption)
        .withTabindex(0);
  }

  private static HtmlTag document(
      String title, Optional<Visit.Session> session, DomContent... content) {
    return html(
            head(
                meta().withCharset("utf-8"),
                meta().withName("viewport").withContent("width=device-width, initial-scale=1"),
                title(title + " · Idempotency"),
                TagCreator.link().withRel("stylesheet").withHref(STYLE)),
            body(
                a("Skip to the content").withClass("skip").withHref("#main"),
                header(
                    a("Idempotency").withClass("brand").withHref("/"),
                    iff(session, known -> navigation(known, title))),
                main(content).withId("main")))
        .withLang("en");
  }

  private static DomContent navigation(Visit.Session session, String title) {
    return each(
        nav(entry("/", OverviewPage.TITLE, title), entry(AuditPage.PATH, AuditPage.TITLE, title))
            .attr("aria-label", "Pages"),
        span(text("as "), foreign(session.actor())).withClass("user"));
  }

  private static DomContent entry(String path, String name, String title) {
    return a(name).withHref(path).condAttr(name.equals(title), "aria-current", "page");
  }
}
