package io.github.grpcidempotency.example.service.webhook;

import static io.github.grpcidempotency.example.ProviderSignature.encoded;
import static io.github.grpcidempotency.example.ProviderSignature.twilio;
import static io.github.grpcidempotency.example.service.webhook.Deliveries.delivery;
import static io.github.grpcidempotency.example.service.webhook.Deliveries.webhook;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.grpcidempotency.key.MalformedKeyException;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TwilioMessagingSchemeTest {
  /** The test values of Twilio's own libraries. */
  private static final String TOKEN = "12345";

  private static final String URL = "https://mycompany.com/myapp.php?foo=1&bar=2";
  private static final Map<String, String> CALL =
      Map.of(
          "Digits", "1234",
          "CallSid", "CA1234567890ABCDE",
          "To", "+18005551212",
          "Caller", "+14158675309",
          "From", "+14158675309");
  private static final String SIGNATURE = "RSOYDt4T1cUTdK1PDd93/VVr8B8=";

  private static final String SID = "SM1a2b3c4d5e6f708192a3b4c5d6e7f809";

  private final Scheme scheme = new TwilioMessagingScheme();

  @Test
  void thePublishedExampleIsSigned() {
    assertThat(isSigned(TOKEN, URL, encoded(CALL), SIGNATURE)).isTrue();
    assertThat(twilio(TOKEN, URL, CALL)).isEqualTo(SIGNATURE);
  }

  @Test
  void parametersAreSignedAsTheyWereMeantAndNotAsTheyWereEncoded() {
    Map<String, String> spaced = Map.of("Body", "  a & b = c+d  ", "MessageSid", "SM1");
    assertThat(isSigned(TOKEN, URL, encoded(spaced), twilio(TOKEN, URL, spaced))).isTrue();
    assertThat(isSigned(TOKEN, URL, "B=2&A=1&a=3", twilio(TOKEN, URL + "A1B2a3"))).isTrue();
    assertThat(isSigned(TOKEN, URL, "A=&B", twilio(TOKEN, URL + "AB"))).isTrue();
  }

  @Test
  void everyDistinctValueOfAParameterIsSigned() {
    String body = "MediaUrl=b&MediaUrl=a&MediaUrl=b";
    assertThat(isSigned(TOKEN, URL, body, twilio(TOKEN, URL + "MediaUrlaMediaUrlb"))).isTrue();
  }

  @Test
  void anotherParameterUrlOrTokenIsNotSigned() {
    assertThat(isSigned(TOKEN, URL, encoded(CALL) + "&More=1", SIGNATURE)).isFalse();
    assertThat(isSigned(TOKEN, URL, encoded(CALL).replace("1234", "4321"), SIGNATURE)).isFalse();
    assertThat(isSigned(TOKEN, URL + "3", encoded(CALL), SIGNATURE)).isFalse();
    assertThat(isSigned("54321", URL, encoded(CALL), SIGNATURE)).isFalse();
  }

  @Test
  void noHeaderOrTwoOfThemSignNothing() {
    Registration webhook = webhook(Provider.TWILIO_MESSAGING, TOKEN, URL);
    assertThat(scheme.isSigned(delivery(encoded(CALL)), webhook)).isFalse();
    assertThat(
            scheme.isSigned(
                delivery(
                    encoded(CALL),
                    "X-Twilio-Signature",
                    SIGNATURE,
                    "X-Twilio-Signature",
                    SIGNATURE),
                webhook))
        .isFalse();
  }

  @Test
  void aBodyThatIsNoFormIsNotSigned() {
    assertThat(isSigned(TOKEN, URL, "a=%zz", twilio(TOKEN, URL + "a%zz"))).isFalse();
  }

  @Test
  void theEventIsTheMessageWithItsStatus() {
    assertThat(event("MessageStatus=delivered&To=%2B1800&MessageSid=" + SID))
        .contains(SID + ".delivered");
    assertThat(event("MessageStatus=sent&MessageSid=" + SID)).contains(SID + ".sent");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "MessageSid=" + SID,
        "MessageStatus=sent",
        "MessageSid=&MessageStatus=sent",
        "MessageSid=" + SID + "&MessageSid=SM2&MessageStatus=sent",
        "MessageSid=" + SID + "&MessageStatus=sent&MessageStatus=delivered",
        "messagesid=" + SID + "&messagestatus=sent",
        "{\"MessageSid\": \"" + SID + "\", \"MessageStatus\": \"sent\"}"
      })
  void withoutOneMessageAndOneStatusThereIsNoEvent(String body) {
    assertThat(event(body)).isEmpty();
  }

  @Test
  void aRecordedSignatureNamesNoOtherEventByMovingWhereParametersEnd() {
    String sent = "MessageSid=" + SID + "&MessageStatus=sent&MessagingServiceSid=MG1";
    String moved = "MessageSid=" + SID + "&MessageStatus=sentMessagingServiceSidMG1";
    String signature =
        twilio(TOKEN, URL + "MessageSid" + SID + "MessageStatussentMessagingServiceSidMG1");
    assertThat(isSigned(TOKEN, URL, sent, signature)).isTrue();
    assertThat(isSigned(TOKEN, URL, moved, signature)).isTrue();
    assertThat(event(sent)).contains(SID + ".sent");
    assertMalformed(moved);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "MessageSid=SM1&MessageStatus=sent",
        "MessageSid=SM:1&MessageStatus=sent",
        "MessageSid=" + SID + "&MessageStatus=Sent"
      })
  void anEventThatIsNotInTwiliosSpellingIsMalformed(String body) {
    assertMalformed(body);
  }

  private void assertMalformed(String body) {
    assertThatExceptionOfType(MalformedKeyException.class).isThrownBy(() -> event(body));
  }

  private Optional<String> event(String body) {
    return scheme.event(delivery(body));
  }

  private boolean isSigned(String token, String url, String body, String signature) {
    return scheme.isSigned(
        delivery(body, "X-Twilio-Signature", signature),
        webhook(Provider.TWILIO_MESSAGING, token, url));
  }
}
