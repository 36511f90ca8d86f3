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
import static j2html.TagCreator.h1;
import static j2html.TagCreator.h2;
import static j2html.TagCreator.iff;
import static j2html.TagCreator.input;
import static j2html.TagCreator.label;
import static j2html.TagCreator.p;
import static j2html.TagCreator.section;
import static j2html.TagCreator.span;
import static j2html.TagCreator.text;
import static j2html.TagCreator.textarea;

import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.OperationState;
import j2html.tags.DomContent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The page of one operation: its record, an explanation of its state, the possible actions, and
 * earlier actions.
 */
final class DetailPage {
  static final String PATH = "/operation";
  static final String CHECK = "/check";
  static final String DONE = "done";
  private static final int MAX_REASON = 1_000;

  private final Visit visit;
  private final Administration administration;

  DetailPage(Visit visit, Administration administration) {
    this.visit = visit;
    this.administration = administration;
  }

  /** Shows an operation, or the earlier actions on it if it is gone. */
  Answer answer(UUID id) {
    Optional<OperationRecord> found = administration.find(id);
    Optional<DomContent> history = history(id, found);
    if (found.isEmpty() && history.isEmpty()) {
      throw new HttpError(
          404, "There is no operation with this id, and no operator has freed or forgotten one.");
    }
    Optional<DomContent> done = found.isPresent() ? Optional.empty() : doneNotice();
    return Answer.page(
        found.isPresent() || done.isPresent() ? 200 : 404,
        Layout.page(
            visit,
            "Operation",
            heading(id),
            iff(done, notice -> notice),
            found
                .map(operation -> each(facts(operation), form(operation, "", Optional.empty())))
                .orElseGet(
                    () ->
                        p(
                            "This operation no longer has a record. The next call with its key runs"
                                + " the handler.")),
            iff(history, acts -> acts)));
  }

  /** Shows an operation whose form was invalid, or whose action was refused. */
  Answer refused(int status, UUID id, String reason, String problem) {
    return Answer.page(
        status,
        Layout.page(
            visit,
            "Operation",
            heading(id),
            Layout.notice("problem", problem).withId("problem"),
            iff(
                administration.find(id),
                operation ->
                    each(facts(operation), form(operation, reason, Optional.of("problem")))),
            iff(history(id, administration.find(id)), acts -> acts)));
  }

  private static DomContent heading(UUID id) {
    return h1(text("Operation "), code(id.toString()));
  }

  /** Shows the result of an action, after which the console redirected the browser here. */
  private Optional<DomContent> doneNotice() {
    return visit
        .fields()
        .given(DONE)
        .map(DeletingAct::named)
        .map(act -> Layout.notice("done", act.done() + "."));
  }

  private DomContent facts(OperationRecord operation) {
    List<DomContent> facts = new ArrayList<>();
    facts.add(fact("State", Layout.state(operation.state())));
    facts.add(fact("Method", code(foreign(operation.procedure()))));
    facts.add(fact("Key", key(operation)));
    if (!operation.tenant().isEmpty()) {
      facts.add(fact("Tenant", foreign(operation.tenant())));
    }
    if (!operation.project().isEmpty()) {
      facts.add(fact("Project", foreign(operation.project())));
    }
    facts.add(fact("User", code(operation.userId().toString())));
    facts.add(fact("Attempt", text(String.valueOf(operation.attempt()))));
    operation.server().ifPresent(server -> facts.add(fact("Server", foreign(server))));
    for (OperationRecord.Takeover earlier : operation.takeovers()) {
      facts.add(
          fact(
              "Taken over from",
              each(
                  foreign(earlier.server()),
                  text(", "),
                  Words.time(earlier.at(), operation.read()))));
    }
    operation.trace().ifPresent(trace -> facts.add(fact("Trace", trace(trace))));
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
        .retained()
        .ifPresent(
            last -> facts.add(fact("Last kept by a replay", Words.time(last, operation.read()))));
    operation
        .resource()
        .ifPresent(
            made -> facts.add(fact("Resource", code(foreign(made.type() + "/" + made.id())))));
    return each(
        p(operation.meaning()).withClass("meaning"), dl(each(facts.stream())).withClass("facts"));
  }

  /** Returns a link to the tool that shows traces, if there is one. */
  private DomContent trace(String traceparent) {
    String[] parts = traceparent.split("-", -1);
    DomContent shown = code(foreign(traceparent));
    return visit.session().traceLink().isPresent() && parts.length == 4
        ? a(shown).withHref(visit.session().traceLink().get().replace("{trace}", parts[1]))
        : shown;
  }

  private DomContent key(OperationRecord operation) {
    return visit.session().showsKeys()
        ? code(foreign(operation.key()))
        : span("hidden, because this console is set to show no keys").withClass("none");
  }

  private static DomContent fact(String name, DomContent value) {
    return div(dt(name), dd(value));
  }

  private DomContent form(OperationRecord operation, String reason, Optional<String> problem) {
    return iff(DeletingAct.of(operation.state()), act -> form(act, operation, reason, problem));
  }

  private DomContent form(
      DeletingAct act, OperationRecord operation, String reason, Optional<String> problem) {
    return section(
            h2(act.title()).withId("act"),
            visit
                .form(CHECK)
                .withClass("act")
                .with(
                    Visit.hidden("act", act.id()),
                    Visit.hidden("operation", operation.id().toString()),
                    label("Reason for the audit: a ticket, or what you have found out")
                        .withFor("reason"),
                    textarea(reason)
                        .withId("reason")
                        .withName("reason")
                        .withRows("2")
                        .withMaxlength(String.valueOf(MAX_REASON))
                        .isRequired()
                        .condAttr(problem.isPresent(), "aria-describedby", problem.orElse("")),
                    iff(operation.state() == OperationState.RUNNING, evenIfLive()),
                    button("See what would happen")))
        .attr("aria-labelledby", "act");
  }

  private static DomContent evenIfLive() {
    return label(
            input().withType("checkbox").withName("even_if_live").withValue("yes"),
            text(
                "Even if the lease has not ended. The handler's answer is then not recorded, and a"
                    + " retry may run at the same time."))
        .withClass("check");
  }

  /** Returns the actions on this operation, and on earlier operations of its key. */
  private Optional<DomContent> history(UUID id, Optional<OperationRecord> found) {
    return AuditPage.history(administration, id, found);
  }
}
