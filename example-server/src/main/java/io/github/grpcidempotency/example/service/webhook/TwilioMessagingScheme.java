package io.github.grpcidempotency.example.service.webhook;

import io.github.grpcidempotency.key.MalformedKeyException;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Twilio, with form bodies, as status callbacks of messages have them: {@code X-Twilio-Signature}
 * is the HMAC-SHA1, in Base64, of the URL followed by every parameter's name and value, sorted by
 * name, with nothing between them. Where one ends and the next begins is not signed, so the event's
 * two parts are accepted only in Twilio's spelling: then neither can contain a part of its
 * neighbour. The event is {@code MessageSid} with {@code MessageStatus}: one message is reported as
 * sent, then as delivered.
 *
 * @see <a href="https://www.twilio.com/docs/usage/security#validating-requests">Twilio's
 *     documentation</a>
 */
final class TwilioMessagingScheme implements Scheme {
  private static final Pattern MESSAGE = Pattern.compile("(SM|MM)[0-9a-fA-F]{32}");
  private static final Pattern STATUS = Pattern.compile("[a-z_]{1,32}");

  @Override
  public boolean isSigned(Delivery delivery, Registration webhook) {
    Optional<Form> form = Form.parse(delivery.body());
    Optional<String> given = delivery.header("X-Twilio-Signature");
    if (form.isEmpty() || given.isEmpty()) {
      return false;
    }
    String signed = webhook.publicUrl() + form.get().namesAndValues();
    return Hmac.matches(Hmac.sha1(webhook.signingSecret(), signed), given.get());
  }

  @Override
  public Optional<String> event(Delivery delivery) {
    return Form.parse(delivery.body()).flatMap(TwilioMessagingScheme::event);
  }

  private static Optional<String> event(Form form) {
    Optional<String> message = form.only("MessageSid").map(sid -> spelled(sid, MESSAGE));
    Optional<String> status = form.only("MessageStatus").map(word -> spelled(word, STATUS));
    return message.flatMap(sid -> status.map(reported -> sid + "." + reported));
  }

  private static String spelled(String value, Pattern spelling) {
    if (!spelling.matcher(value).matches()) {
      throw new MalformedKeyException("a part of the event is not in Twilio's spelling");
    }
    return value;
  }
}
