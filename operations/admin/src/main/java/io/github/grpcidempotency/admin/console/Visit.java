package io.github.grpcidempotency.admin.console;

import static j2html.TagCreator.input;

import j2html.TagCreator;
import j2html.tags.DomContent;
import j2html.tags.specialized.FormTag;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A request of the user.
 *
 * @param fields the fields of the address or of the form
 */
record Visit(Session session, Fields fields) {
  private static final String TOKEN = "token";

  /**
   * What all requests share.
   *
   * @param actor the user's name
   * @param formToken a secret that proves that this console made a form. The page of another site
   *     can send a form with the browser's credentials, but does not know the token
   * @param showsKeys whether the user sees the keys of clients
   * @param traceLink the address of a trace, with <code>{trace}</code> in the place of its id
   */
  record Session(String actor, String formToken, boolean showsKeys, Optional<String> traceLink) {}

  /** Returns a form that is sent to a page, with the token of this console. */
  FormTag form(String page) {
    return TagCreator.form(hidden(TOKEN, session.formToken())).withMethod("post").withAction(page);
  }

  /** Returns the address of a page, with the present fields and one other. */
  String address(String page, String name, String value) {
    Map<String, String> parameters = new TreeMap<>(fields.values());
    parameters.put(name, value);
    return page
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

  /** Refuses a form that this console did not make. */
  void checkToken() {
    byte[] given = fields.text(TOKEN).getBytes(StandardCharsets.UTF_8);
    if (!MessageDigest.isEqual(given, session.formToken().getBytes(StandardCharsets.UTF_8))) {
      throw new HttpError(
          403, "This form was not made by this console. Go back and reload the page.");
    }
  }
}
