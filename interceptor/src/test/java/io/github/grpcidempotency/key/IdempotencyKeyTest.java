package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class IdempotencyKeyTest {
  private static final Caller USER = Caller.of(new UUID(1, 2));

  @Test
  void withoutANamespaceTheKeyIsStoredAsItIs() {
    assertThat(new IdempotencyKey(USER, "a-key").stored()).isEqualTo("a-key");
  }

  @Test
  void theNamespaceStandsInFrontOfAColon() {
    assertThat(new IdempotencyKey(USER.in("tenant/1"), "a-key").stored())
        .isEqualTo("tenant/1:a-key");
  }

  /** A format of one's own may allow colons. */
  @Test
  void noTwoScopesShareASpelling() {
    List<String> namespaces = List.of("", "a", "b", "a/b", "a.b");
    List<String> values = List.of("a", "b", ":a", "a:b", "a:", ":", "::", "a:a:b", "a/b:a");
    Map<String, IdempotencyKey> spellings = new HashMap<>();

    for (String namespace : namespaces) {
      for (String value : values) {
        IdempotencyKey key = new IdempotencyKey(USER.in(namespace), value);
        IdempotencyKey other = spellings.put(key.stored(), key);
        assertThat(other).as("%s in %s shares its spelling", value, namespace).isNull();
      }
    }
  }

  @Test
  void aKeyIsNotSpelledOutInLogs() {
    assertThat(new IdempotencyKey(USER, "a-secret").toString())
        .doesNotContain("secret")
        .doesNotContain(USER.userId().toString());
  }
}
