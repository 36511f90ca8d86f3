package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.spi.FailurePhase.NOTHING_SENT;
import static io.github.grpcidempotency.store.FailureCause.NO_CONNECTION;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import com.google.common.hash.Hashing;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.thing.ThingServer;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the log says of decisions that are not ordinary. */
class DecisionLogTest extends CallTest {
  private static final byte[] SECRET = "a secret of sixteen bytes, or more".getBytes(UTF_8);
  private static final Pattern HASH = Pattern.compile("key_hash=(\\S+) ");

  private final LogLines log = LogLines.listen();

  @AfterEach
  void stopListening() {
    log.close();
  }

  @Test
  void aReusedKeyIsOneLineWithPairsAndWithoutKeyRequestOrResponse() {
    ThingServer server = start();
    Seen first = keyed(server).end().first();

    call(server, "another thing").as(ALICE).key(KEY).end();

    assertThat(decisions()).hasSize(1);
    assertThat(decisions().get(0))
        .contains(
            "WARN io.github.grpcidempotency.decision",
            "decision=refuse",
            "procedure=" + ThingServer.CREATE_THING.getFullMethodName(),
            "entry=CALL",
            "policy=OPTIONAL",
            "reason=IDEMPOTENCY_KEY_REUSED",
            "cause=request",
            "source=idempotency-key",
            "operation=" + first.trailer(IdempotencyMetadata.OPERATION).orElseThrow())
        .as("without a secret")
        .doesNotContain("key_hash");
    assertNothingSecretIsLogged();
  }

  @Test
  void ordinaryDecisionsAreNotLogged() {
    ThingServer server = start();
    keyed(server).end().first();

    keyed(server).end();
    call(server, "a thing").as(ALICE).end();

    assertThat(decisions()).isEmpty();
  }

  @Test
  void aStormIsOneLineForEachProcedureDecisionAndReason() {
    ThingServer server = start();
    for (int call = 0; call < 20; call++) {
      reuse(server, KEY, ALICE);
    }
    store.failClaims(NOTHING_SENT, NO_CONNECTION);
    for (int call = 0; call < 20; call++) {
      keyed(server).end();
    }

    assertThat(decisions()).hasSize(2);
    assertThat(decisions().get(0)).contains("decision=refuse", "IDEMPOTENCY_KEY_REUSED");
    assertThat(decisions().get(1)).contains("decision=unprotected", "reason=FAILED_OPEN");
    assertNothingSecretIsLogged();
  }

  @Test
  void withOneSecretTwoServersLogTheSameHashForTheSameKey() {
    String first = hashOf(KEY, ALICE);
    String second = hashOf(KEY, ALICE);
    String other = hashOf(UUID.randomUUID().toString(), ALICE);

    assertThat(first).matches("[0-9a-f]{16}").isEqualTo(second).isNotEqualTo(other);
    assertNothingSecretIsLogged();
  }

  @Test
  void withASecretALineNamesTheUserAndTheTenantByTheirHashes() {
    ThingServer server = start(server().settings(settings -> settings.keyHashSecret(SECRET)));
    for (String thing : List.of("a thing", "another thing")) {
      call(server, thing).as(ALICE, "acme").key(KEY).end();
    }

    assertThat(decisions())
        .singleElement(STRING)
        .contains("user_hash=" + hmac(ALICE.toString()), "tenant_hash=" + hmac("acme"))
        .doesNotContain("acme");
    assertNothingSecretIsLogged();
  }

  private static String hmac(String text) {
    return Hashing.hmacSha256(SECRET).hashString(text, UTF_8).toString().substring(0, 16);
  }

  @Test
  void aSecretThatIsTooShortIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> start(server().settings(settings -> settings.keyHashSecret(new byte[15]))));
  }

  private String hashOf(String key, UUID user) {
    int before = decisions().size();
    reuse(start(server().settings(settings -> settings.keyHashSecret(SECRET))), key, user);
    Matcher matcher = HASH.matcher(decisions().get(before));
    assertThat(matcher.find()).isTrue();
    return matcher.group(1);
  }

  private static void reuse(ThingServer server, String key, UUID user) {
    call(server, "a thing").as(user).key(key).end();
    call(server, "another thing").as(user).key(key).end();
  }

  private void assertNothingSecretIsLogged() {
    assertThat(log.all())
        .noneMatch(line -> line.contains(KEY))
        .noneMatch(line -> line.contains("a thing") || line.contains("another thing"))
        .noneMatch(line -> line.contains(ALICE.toString()));
  }

  private List<String> decisions() {
    return log.all().stream().filter(line -> line.contains("decision=")).toList();
  }
}
