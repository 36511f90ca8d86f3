package io.github.grpcidempotency.admin.console;

import static j2html.TagCreator.input;

import io.github.grpcidempotency.admin.AdminAction;
import j2html.TagCreator;
import j2html.tags.DomContent;
import j2html.tags.specialized.FormTag;

/**
 * One request of a user.
 *
 * @param base the path that the console is mounted at, with a slash at its end
 * @param user who sends it
 * @param session the browser's
 * @param tokens with which the browser's forms are signed
 * @param fields of the address, or of the form
 */
record Visit(String base, ConsoleUser user, String session, FormTokens tokens, Fields fields) {
  private static final String TOKEN = "token";

  boolean may(AdminAction action) {
    return user.may(action);
  }

  void demand(AdminAction action) {
    if (!may(action)) {
      throw new HttpError(403, "You may not do this: it needs the right " + action + ".");
    }
  }

  /** Begins a form that is sent to a page, with what shows that the console has made it. */
  FormTag form(String page, String purpose) {
    return TagCreator.form(hidden(TOKEN, token(purpose)))
        .withMethod("post")
        .withAction(base + page);
  }

  static DomContent hidden(String name, String value) {
    return input().withType("hidden").withName(name).withValue(value);
  }

  String token(String purpose) {
    return tokens.token(session, user, purpose);
  }

  /** Refuses a form that this console did not make for this browser, user and purpose. */
  void checkToken(String purpose) {
    if (!isSigned(purpose)) {
      throw new HttpError(
          403, "This form is out of date, or was not made by this console. Go back and reload.");
    }
  }

  boolean isSigned(String purpose) {
    return tokens.isValid(fields.text(TOKEN), session, user, purpose);
  }
}
