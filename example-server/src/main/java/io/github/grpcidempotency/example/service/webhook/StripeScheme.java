package io.github.grpcidempotency.example.service.webhook;

import com.google.common.base.Splitter;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import com.google.protobuf.util.JsonFormat;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Stripe: {@code Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>…]}, each an HMAC-SHA256 over the
 * time, a dot and the body. While a secret is rotated there is one signature per secret, so one
 * valid signature is enough. The time is signed too. A delivery that was signed more than five
 * minutes ago is refused, because it may be a replay by an attacker. The event is the {@code id} of
 * the JSON body.
 *
 * @see <a href="https://docs.stripe.com/webhooks#verify-manually">Stripe's documentation</a>
 */
final class StripeScheme extends Scheme {
  private static final Duration TOLERANCE = Duration.ofMinutes(5);
  private static final Splitter PARTS = Splitter.on(',').trimResults();
  private static final Pattern SECONDS = Pattern.compile("\\d{1,12}");

  @Override
  public String provider() {
    return "stripe";
  }

  @Override
  boolean isSigned(Delivery delivery, String secret) {
    List<String> parts =
        delivery.header("Stripe-Signature").map(PARTS::splitToList).orElse(List.of());
    List<String> times = named("t=", parts).toList();
    if (times.size() != 1 || !isRecent(times.get(0), delivery)) {
      return false;
    }
    ByteString signed = ByteString.copyFromUtf8(times.get(0) + ".").concat(delivery.body());
    String expected = hmac(secret, signed.toByteArray());
    return named("v1=", parts).anyMatch(given -> matches(expected, given));
  }

  @Override
  Optional<String> event(Delivery delivery) {
    Struct.Builder event = Struct.newBuilder();
    try {
      JsonFormat.parser().merge(delivery.body().toStringUtf8(), event);
    } catch (InvalidProtocolBufferException notAnObject) {
      return Optional.empty();
    }
    return Optional.ofNullable(event.getFieldsMap().get("id"))
        .filter(Value::hasStringValue)
        .map(Value::getStringValue);
  }

  private static Stream<String> named(String name, List<String> parts) {
    return parts.stream()
        .filter(part -> part.startsWith(name))
        .map(part -> part.substring(name.length()));
  }

  private static boolean isRecent(String time, Delivery delivery) {
    if (!SECONDS.matcher(time).matches()) {
      return false;
    }
    long age = delivery.received().getEpochSecond() - Long.parseLong(time);
    return Math.abs(age) <= TOLERANCE.toSeconds();
  }
}
