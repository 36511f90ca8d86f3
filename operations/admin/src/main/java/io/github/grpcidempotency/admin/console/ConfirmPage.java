package io.github.grpcidempotency.admin.console;

import static io.github.grpcidempotency.admin.console.Layout.foreign;
import static j2html.TagCreator.a;
import static j2html.TagCreator.button;
import static j2html.TagCreator.code;
import static j2html.TagCreator.dd;
import static j2html.TagCreator.div;
import static j2html.TagCreator.dl;
import static j2html.TagCreator.dt;
import static j2html.TagCreator.h1;
import static j2html.TagCreator.iff;
import static j2html.TagCreator.p;

import io.github.grpcidempotency.admin.Act;
import io.github.grpcidempotency.admin.ActResult;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.OperationRecord;
import j2html.tags.DomContent;
import j2html.tags.specialized.HtmlTag;
import java.util.Optional;
import java.util.UUID;

/** Shows the effect of an action before it is done, and then does it. */
final class ConfirmPage {
  static final String PERFORM = "/perform";

  private final Visit visit;
  private final Administration administration;
  private final DeletingAct act;
  private final UUID operation;
  private final String reason;
  private final boolean evenIfLive;

  /** Reads a form. */
  ConfirmPage(Visit visit, Administration administration) {
    this.visit = visit;
    this.administration = administration;
    this.act = DeletingAct.named(visit.fields().text("act"));
    this.operation =
        visit
            .fields()
            .id("operation")
            .orElseThrow(() -> new HttpError(400, "There is no such id."));
    this.reason = visit.fields().text("reason");
    this.evenIfLive = visit.fields().isSet("even_if_live");
    visit.checkToken();
  }

  /** Makes a dry run, and requests a confirmation. */
  Answer check() {
    return attempt(true);
  }

  /** Does the action. */
  Answer perform() {
    return attempt(false);
  }

  private Answer attempt(boolean dryRun) {
    if (reason.isEmpty() || reason.length() > 1_000) {
      return refused(400, "Give a reason of at most 1,000 characters. The audit keeps it.");
    }
    ActResult result =
        act.perform(
            administration,
            operation,
            new Act(visit.session().actor(), reason),
            evenIfLive,
            dryRun);
    return switch (result) {
      case WOULD_BE_DONE -> Answer.page(200, confirmation());
      case DONE ->
          Answer.seeOther("%s?id=%s&done=%s".formatted(DetailPage.PATH, operation, act.id()));
      case NOT_FOUND -> refused(404, "This operation no longer has a record.");
      case OWNER_LIVES ->
          refused(
              409,
              "The lease has not ended, so the handler may still be running. Nothing was changed."
                  + " If you know that the server is gone, or accept that a retry runs at the same"
                  + " time, tick the box.");
      case ALREADY_RECORDED ->
          refused(409, "Its outcome has been recorded meanwhile, so there is nothing to free.");
      case NOT_RECORDED ->
          refused(409, "This operation has no recorded outcome, so there is nothing to forget.");
      case LOCKED ->
          refused(
              409,
              "A transaction has locked this operation: it is about to be recorded, taken over or"
                  + " deleted. Nothing was changed. Reload the page in a moment.");
    };
  }

  private Answer refused(int status, String problem) {
    return new DetailPage(visit, administration).refused(status, operation, reason, problem);
  }

  private HtmlTag confirmation() {
    Optional<OperationRecord> found = administration.find(operation);
    String title = act.title() + "?";
    return Layout.page(
        visit,
        title,
        h1(title),
        p(consequence()).withClass("meaning"),
        dl(
                fact("Operation", code(operation.toString())),
                iff(found, known -> fact("Method", code(foreign(known.procedure())))),
                iff(found, known -> fact("State", Layout.state(known.state()))),
                fact("Reason", foreign(reason)),
                fact("By", foreign(visit.session().actor())))
            .withClass("facts"),
        visit
            .form(PERFORM)
            .withClass("act")
            .with(
                Visit.hidden("act", act.id()),
                Visit.hidden("operation", operation.toString()),
                Visit.hidden("reason", reason),
                iff(evenIfLive, Visit.hidden("even_if_live", "yes")),
                button(act.title()).withClass("danger"),
                a("Cancel").withClass("cancel").withHref(DetailPage.PATH + "?id=" + operation)));
  }

  private String consequence() {
    return switch (act) {
      case FREE ->
          evenIfLive
              ? "The reservation would be deleted although its handler may still be running. The"
                  + " handler's answer would not be recorded, and the next call with its key"
                  + " would run the handler, perhaps at the same time."
              : "The reservation would be deleted. The next call with its key would run the"
                  + " handler.";
      case FORGET ->
          "The recorded outcome would be deleted. The next call with its key would run the"
              + " handler again. The effect of the first run would stay.";
    };
  }

  private static DomContent fact(String name, DomContent value) {
    return div(dt(name), dd(value));
  }
}
