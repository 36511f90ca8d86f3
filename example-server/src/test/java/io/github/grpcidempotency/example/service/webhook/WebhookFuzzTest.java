package io.github.grpcidempotency.example.service.webhook;

import static io.github.grpcidempotency.example.service.webhook.Deliveries.NOW;
import static io.github.grpcidempotency.example.service.webhook.Deliveries.webhook;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.common.hash.Hashing;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.organization.v1.HttpHeader;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.MalformedKeyException;
import io.github.grpcidempotency.key.UnauthenticatedKeyException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Every delivery has a key, or none, or is refused. An input is an HTTP request: headers, a line
 * each, an empty line, and the body. It is delivered as it is, and once more with the signature
 * that it should have.
 */
class WebhookFuzzTest {
  private static final String SECRET = "a secret";

  @FuzzTest
  void aDeliveryHasAKeyThatAStoreCanKeepOrIsRefused(byte[] input) {
    String request = new String(input, StandardCharsets.ISO_8859_1);
    int empty = request.indexOf("\n\n");
    List<HttpHeader> headers = headers(empty < 0 ? "" : request.substring(0, empty));
    ByteString body = ByteString.copyFrom(input).substring(empty < 0 ? 0 : empty + 2);

    for (Scheme scheme : List.of(new StripeScheme(), new GitHubScheme())) {
      Registration webhook = webhook(scheme, SECRET);
      assertKeyOrRefusal(webhook, new Delivery(headers, body, NOW), true);
      HttpHeader signature =
          scheme instanceof StripeScheme
              ? header("Stripe-Signature", stripe(body))
              : header("X-Hub-Signature-256", "sha256=" + hmac(body));
      assertKeyOrRefusal(webhook, signed(headers, signature, body), false);
    }
  }

  private static void assertKeyOrRefusal(
      Registration webhook, Delivery delivery, boolean mayBeUnproven) {
    Optional<FoundKey> key;
    try {
      key = WebhookKeys.key(webhook, delivery);
    } catch (MalformedKeyException malformed) {
      return;
    } catch (UnauthenticatedKeyException unproven) {
      assertThat(mayBeUnproven).as("the signature is right").isTrue();
      return;
    }
    if (key.isPresent()) {
      assertThat(key.get().caller()).contains(webhook.principal());
      assertThat(key.get().value()).startsWith(webhook.scheme().provider() + ":");
      assertThat(IdempotencyKey.isKey(key.get().value())).isTrue();
    }
  }

  private static Delivery signed(List<HttpHeader> headers, HttpHeader signature, ByteString body) {
    List<HttpHeader> all = new ArrayList<>(headers);
    all.removeIf(header -> header.getName().equalsIgnoreCase(signature.getName()));
    all.add(signature);
    return new Delivery(all, body, NOW);
  }

  private static String stripe(ByteString body) {
    ByteString time = ByteString.copyFromUtf8(NOW.getEpochSecond() + ".");
    return "t=%d,v1=%s".formatted(NOW.getEpochSecond(), hmac(time.concat(body)));
  }

  private static String hmac(ByteString signed) {
    return Hashing.hmacSha256(SECRET.getBytes(StandardCharsets.UTF_8))
        .hashBytes(signed.toByteArray())
        .toString();
  }

  private static List<HttpHeader> headers(String lines) {
    return lines
        .lines()
        .map(line -> line.split(":", 2))
        .map(parts -> header(parts[0], parts.length < 2 ? "" : parts[1]))
        .toList();
  }

  private static HttpHeader header(String name, String value) {
    return HttpHeader.newBuilder().setName(name).setValue(value).build();
  }
}
