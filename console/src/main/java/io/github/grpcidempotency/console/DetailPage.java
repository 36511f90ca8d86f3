package io.github.grpcidempotency.console;

import static io.github.grpcidempotency.console.Html.element;
import static io.github.grpcidempotency.console.Html.foreign;
import static io.github.grpcidempotency.console.Html.text;

import io.github.grpcidempotency.admin.AdminAction;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.OperationState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** One operation: what is known of it, what that means, what can be done, and what was done. */
final class DetailPage {
  static final String PATH = "operation";
  static final String CHECK = "check";
  static final String DONE = "done";
  private static final int MAX_REASON = 1_000;

  private final Visit visit;
  private final Administration administration;

  DetailPage(Visit visit, Administration administration) {
    this.visit = visit;
    this.administration = administration;
  }

  /** Shows an operation, or what was done to it when it was there. */
  Answer answer(UUID id) {
    Optional<OperationRecord> found = administration.find(id);
    Optional<Html> done = doneNotice(id);
    if (found.isEmpty() && done.isEmpty() && history(id) == Html.NOTHING) {
      throw new HttpError(
          404, "There is no operation of this id, and no operator has touched one.");
    }
    return Answer.page(
        found.isPresent() || done.isPresent() ? 200 : 404,
        Layout.page(
            visit,
            "Operation",
            heading(id),
            done.orElse(Html.NOTHING),
            found
                .map(operation -> Html.all(facts(operation), form(operation, "", Optional.empty())))
                .orElseGet(
                    () ->
                        element("p")
                            .with(
                                "There is no record of it any more. The next call with its key runs"
                                    + " the handler.")),
            history(id)));
  }

  /** Shows an operation whose form was not right, or whose act was refused. */
  Answer refused(int status, UUID id, String reason, Html problem) {
    Html.Element notice = Layout.notice("problem", problem).attribute("id", "problem");
    return Answer.page(
        status,
        Layout.page(
            visit,
            "Operation",
            heading(id),
            notice,
            administration
                .find(id)
                .map(
                    operation ->
                        Html.all(facts(operation), form(operation, reason, Optional.of("problem"))))
                .orElse(Html.NOTHING),
            history(id)));
  }

  private static Html heading(UUID id) {
    return element("h1").with(text("Operation "), element("code").with(id.toString()));
  }

  /** Shows what the form before has done, if it was this console that sent the browser here. */
  private Optional<Html> doneNotice(UUID id) {
    return visit
        .fields()
        .given(DONE)
        .map(DeletingAct::named)
        .filter(act -> visit.isSigned(act.donePurpose(id)))
        .map(act -> Layout.notice("done", text(act.done() + ".")));
  }

  private Html facts(OperationRecord operation) {
    List<Html> facts = new ArrayList<>();
    facts.add(fact("State", Layout.state(operation.state())));
    facts.add(fact("Method", element("code").with(foreign(operation.procedure()))));
    facts.add(fact("Key", key(operation)));
    if (!operation.namespace().isEmpty()) {
      facts.add(fact("Tenant and project", foreign(operation.namespace())));
    }
    facts.add(fact("User", element("code").with(operation.userId().toString())));
    facts.add(fact("Attempt", text(String.valueOf(operation.attempt()))));
    operation.server().ifPresent(server -> facts.add(fact("Server", foreign(server))));
    operation
        .trace()
        .ifPresent(trace -> facts.add(fact("Trace", element("code").with(foreign(trace)))));
    facts.add(fact("Claimed", Words.time(operation.created(), operation.read())));
    if (operation.completed().isEmpty()) {
      operation
          .leaseExpires()
          .ifPresent(end -> facts.add(fact("Lease ends", Words.time(end, operation.read()))));
    }
    operation
        .completed()
        .ifPresent(
            end -> {
              facts.add(fact("Recorded", Words.time(end, operation.read())));
              facts.add(fact("Answer", text(Words.size(operation.answerBytes()))));
            });
    facts.add(fact("Expires", Words.time(operation.expires(), operation.read())));
    operation
        .resource()
        .ifPresent(
            made ->
                facts.add(
                    fact(
                        "Resource", element("code").with(foreign(made.type() + "/" + made.id())))));
    return Html.all(
        element("p").as("meaning").with(meaning(operation)),
        element("dl").as("facts").with(facts.stream()));
  }

  private static String meaning(OperationRecord operation) {
    return operation.state() == OperationState.STUCK && operation.outcomeUnknown()
        ? Words.STUCK_AND_UNKNOWN
        : Words.meaning(operation.state());
  }

  private Html key(OperationRecord operation) {
    return visit.may(AdminAction.VIEW_KEY)
        ? element("code").with(foreign(operation.key()))
        : element("span").as("none").with("hidden: it needs the right " + AdminAction.VIEW_KEY);
  }

  private static Html fact(String name, Html value) {
    return element("div").with(element("dt").with(name), element("dd").with(value));
  }

  private Html form(OperationRecord operation, String reason, Optional<String> problem) {
    return DeletingAct.of(operation.state())
        .filter(act -> visit.may(act.action()))
        .map(act -> form(act, operation, reason, problem))
        .orElse(Html.NOTHING);
  }

  private Html form(
      DeletingAct act, OperationRecord operation, String reason, Optional<String> problem) {
    Html.Element why =
        element("textarea")
            .attribute("id", "reason")
            .attribute("name", "reason")
            .attribute("rows", "2")
            .attribute("maxlength", String.valueOf(MAX_REASON))
            .flag("required", true)
            .with(reason);
    return element("section")
        .attribute("aria-labelledby", "act")
        .with(
            element("h2").attribute("id", "act").with(act.title()),
            visit
                .form(CHECK, act.purpose(operation.id()))
                .as("act")
                .with(
                    Visit.hidden("act", act.id()),
                    Visit.hidden("operation", operation.id().toString()),
                    element("label")
                        .attribute("for", "reason")
                        .with("Reason, for the audit: a ticket, what you have seen"),
                    problem.map(id -> why.attribute("aria-describedby", id)).orElse(why),
                    operation.state() == OperationState.RUNNING ? evenIfLive() : Html.NOTHING,
                    element("button").with("See what would happen")));
  }

  private static Html evenIfLive() {
    return element("label")
        .as("check")
        .with(
            element("input")
                .attribute("type", "checkbox")
                .attribute("name", "even_if_live")
                .attribute("value", "yes"),
            text(
                "Even though its owner lives. Its answer is then not recorded, and a retry may run"
                    + " beside it."));
  }

  private Html history(UUID id) {
    if (!visit.may(AdminAction.AUDIT)) {
      return Html.NOTHING;
    }
    return AuditPage.history(administration, id);
  }
}
