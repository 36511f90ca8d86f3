package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class IdempotencyKeyTest {
  private static final Caller USER = Caller.of(new UUID(1, 2));

  @Test
  void keysOfDifferentScopesAreNeverTheSameText() {
    List<Caller> callers =
        List.of(
            USER,
            USER.inTenant("a"),
            USER.inTenant("b"),
            USER.inTenant("a/b"),
            USER.inTenant("-"),
            USER.inProject("a"),
            USER.inProject("b"),
            USER.inTenant("a").inProject("a"),
            USER.inTenant("a").inProject("b"),
            USER.inTenant("b").inProject("a"));
    List<String> values =
        List.of("a", "b", ":a", "a:b", "a:", ":", "::", "a/-:b", "a/b:a", "-/a:b");
    Map<String, IdempotencyKey> spellings = new HashMap<>();

    for (Caller caller : callers) {
      for (String value : values) {
        IdempotencyKey key = new IdempotencyKey(caller, value);
        IdempotencyKey other = spellings.put(key.qualified(), key);
        assertThat(other).as("%s in %s shares its spelling", value, caller).isNull();
      }
    }
  }

  /** UTF-8 has one and the same question mark for every half of a character. */
  @Test
  void anUnpairedSurrogateIsNotAKey() {
    for (String value : List.of("key\ud800", "key\udbff", "\udc00key", "\ude00\ud83d")) {
      assertThat(IdempotencyKey.problemOf(value)).isPresent();
    }
    assertThat(IdempotencyKey.problemOf("key\ud83d\ude00")).isEmpty();
  }

  /** A key that does not fit into a column or an index would look like an outage of the store. */
  @Test
  void aTextThatNoStoreCanKeepIsNotAKey() {
    for (String value : List.of("", "a\0b", "a\nb", "k".repeat(513))) {
      assertThat(IdempotencyKey.problemOf(value)).isPresent();
      assertThatIllegalArgumentException().isThrownBy(() -> new IdempotencyKey(USER, value));
    }
    assertThat(IdempotencyKey.problemOf("k".repeat(512))).isEmpty();
  }

  @Test
  void aKeyIsNotShownInLogs() {
    assertThat(new IdempotencyKey(USER, "a-secret").toString())
        .doesNotContain("secret")
        .doesNotContain(USER.userId().toString());
  }
}
