package io.github.grpcidempotency.admin.console;

import j2html.TagCreator;
import j2html.tags.specialized.HtmlTag;
import java.util.Optional;

/**
 * The answer to a request.
 *
 * @param status the HTTP status
 * @param type the media type
 * @param body the text
 * @param location the address of a redirect
 */
record Answer(int status, String type, String body, Optional<String> location) {
  static Answer page(int status, HtmlTag page) {
    return new Answer(
        status, "text/html; charset=utf-8", TagCreator.document(page), Optional.empty());
  }

  static Answer style(String css) {
    return new Answer(200, "text/css; charset=utf-8", css, Optional.empty());
  }

  /** Redirects the browser to another page, so that a reload does not send the form again. */
  static Answer seeOther(String location) {
    return new Answer(303, "text/plain; charset=utf-8", "", Optional.of(location));
  }
}
