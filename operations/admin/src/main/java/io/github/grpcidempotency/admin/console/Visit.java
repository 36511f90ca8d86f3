package io.github.grpcidempotency.admin.console;

import static j2html.TagCreator.input;

import io.github.grpcidempotency.admin.AdminAction;
import j2html.TagCreator;
import j2html.tags.DomContent;
import j2html.tags.specialized.FormTag;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A request of a user.
 *
 * @param base the path of the console, with a slash at its end
 * @param user the user
 * @param session the browser's session
 * @param tokens the signer of the browser's forms
 * @param traceLink the address of a trace, with <code>{trace}</code> in the place of its id
 * @param fields the fields of the address or of the form
 */
record Visit(
    String base,
    ConsoleUser user,
    String session,
    FormTokens tokens,
    Optional<String> traceLink,
    Fields fields) {
  private static final String TOKEN = "token";

  boolean may(AdminAction action) {
    return user.may(action);
  }

  void demand(AdminAction action) {
    if (!may(action)) {
      throw new HttpError(
          403, "You are not allowed to do this; it needs the right " + action + ".");
    }
  }

  /** Returns a form that is sent to a page, with a token for its purpose. */
  FormTag form(String page, String purpose) {
    return TagCreator.form(hidden(TOKEN, token(purpose)))
        .withMethod("post")
        .withAction(base + page);
  }

  /** Returns the address of a page, with the present fields and one other. */
  String address(String page, String name, String value) {
    Map<String, String> parameters = new TreeMap<>(fields.values());
    parameters.put(name, value);
    return base
        + page
        + parameters.entrySet().stream()
            .map(
                field ->
                    field.getKey()
                        + "="
                        + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
            .collect(Collectors.joining("&", "?", ""));
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
          403,
          "This form has expired, or was not made by this console. Go back and reload the"
              + " page.");
    }
  }

  boolean isSigned(String purpose) {
    return tokens.isValid(fields.text(TOKEN), session, user, purpose);
  }
}
