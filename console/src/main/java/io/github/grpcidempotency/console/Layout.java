package io.github.grpcidempotency.console;

import static io.github.grpcidempotency.console.Html.element;
import static io.github.grpcidempotency.console.Html.text;

import io.github.grpcidempotency.admin.AdminAction;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.OperationState;
import java.util.Optional;
import java.util.stream.Stream;

/** What all pages have. */
final class Layout {
  static final String STYLE = "console.css";

  private Layout() {}

  static Html page(Visit visit, String title, Html... main) {
    return document(visit.base(), title, Optional.of(visit), main);
  }

  /** A page for somebody who need not be known. */
  static Html error(String base, Optional<Visit> visit, HttpError error) {
    String title = error.status() == 404 ? "Not found" : "That did not work";
    return document(
        base, title, visit, element("h1").with(title), notice("problem", text(error.text())));
  }

  /** A message that stands out, and that a screen reader reads at once. */
  static Html.Element notice(String kind, Html... content) {
    return element("p")
        .as("notice " + kind)
        .attribute("role", kind.equals("problem") ? "alert" : "status")
        .with(content);
  }

  static Html state(OperationState state) {
    String name = Words.state(state);
    return element("span").as("state " + name).with(name);
  }

  static Html link(Visit visit, OperationRecord operation) {
    return element("a")
        .attribute("href", visit.base() + "operation?id=" + operation.id())
        .with(element("code").with(operation.id().toString()));
  }

  /** An input with its label. */
  static Html field(String name, String label, String hint, String value, boolean required) {
    return element("label")
        .with(
            text(label),
            element("input")
                .attribute("name", name)
                .attribute("value", value)
                .attribute("placeholder", hint)
                .attribute("autocomplete", "off")
                .attribute("spellcheck", "false")
                .flag("required", required));
  }

  /** A table that scrolls by itself where the window is too narrow for it. */
  static Html table(String caption, Html head, Html body) {
    return element("div")
        .as("scroll")
        .attribute("role", "region")
        .attribute("aria-label", caption)
        .attribute("tabindex", "0")
        .with(
            element("table")
                .with(
                    element("caption").with(caption),
                    element("thead").with(element("tr").with(head)),
                    element("tbody").with(body)));
  }

  static Html heads(String... titles) {
    return Html.all(
        Stream.of(titles)
            .<Html>map(title -> element("th").attribute("scope", "col").with(title))
            .toList());
  }

  private static Html document(String base, String title, Optional<Visit> visit, Html... main) {
    return element("html")
        .attribute("lang", "en")
        .with(
            element("head")
                .with(
                    element("meta").attribute("charset", "utf-8"),
                    element("meta")
                        .attribute("name", "viewport")
                        .attribute("content", "width=device-width, initial-scale=1"),
                    element("title").with(title + " · Idempotency"),
                    element("link").attribute("rel", "stylesheet").attribute("href", base + STYLE)),
            element("body")
                .with(
                    element("a").as("skip").attribute("href", "#main").with("Skip to the content"),
                    element("header")
                        .with(
                            element("a").as("brand").attribute("href", base).with("Idempotency"),
                            visit.map(known -> navigation(known, title)).orElse(Html.NOTHING)),
                    element("main").attribute("id", "main").with(main)));
  }

  private static Html navigation(Visit visit, String title) {
    return Html.all(
        element("nav")
            .attribute("aria-label", "Pages")
            .with(
                entry(visit, "", "Operations", title),
                visit.may(AdminAction.AUDIT)
                    ? entry(visit, "audit", "Audit", title)
                    : Html.NOTHING),
        element("span").as("user").with(text("as "), Html.foreign(visit.user().actor())));
  }

  private static Html entry(Visit visit, String path, String name, String title) {
    Html.Element link = element("a").attribute("href", visit.base() + path).with(name);
    return name.equals(title) ? link.attribute("aria-current", "page") : link;
  }
}
