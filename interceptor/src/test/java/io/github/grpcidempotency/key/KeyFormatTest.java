package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyFormatTest {
  private static final String UUID = "0193a0c4-7e5b-7cc1-9d6e-aabbccddeeff";

  @Test
  void aUuidIsConvertedToLowerCase() {
    assertThat(KeyFormat.uuid().canonicalize("0193A0C4-7e5B-7cC1-9D6E-AABBCCDDEEFF"))
        .contains(UUID);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "0193a0c47e5b7cc19d6eaabbccddeeff",
        "{0193a0c4-7e5b-7cc1-9d6e-aabbccddeeff}",
        "urn:uuid:0193a0c4-7e5b-7cc1-9d6e-aabbccddeeff",
        " 0193a0c4-7e5b-7cc1-9d6e-aabbccddeeff",
        "0193a0c4-7e5b-7cc1-9d6e-aabbccddeeff\n",
        "0193a0c4-7e5b-7cc1-9d6e-aabbccddeef",
        "0193a0c4-7e5b-7cc1-9d6e-aabbccddeefff",
        "0193a0c4-7e5b-7cc1-9d6e-aabbccddeefg",
        "0193a0c4-7e5b-7cc1-9d6-eaabbccddeeff",
        "1-1-1-1-1",
        "٠193a0c4-7e5b-7cc1-9d6e-aabbccddeeff",
      })
  void nothingElseIsAUuid(String raw) {
    assertThat(KeyFormat.uuid().canonicalize(raw)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "Order-1.2_3~4", "A", "0"})
  void anOpaqueKeyIsKeptAsItIs(String raw) {
    assertThat(KeyFormat.opaque().canonicalize(raw)).contains(raw);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a:b", "a/b", "a\n", "\"a\"", "ä", "a,b"})
  void anOpaqueKeyHasNoOtherCharacters(String raw) {
    assertThat(KeyFormat.opaque().canonicalize(raw)).isEmpty();
  }

  @Test
  void anOpaqueKeyHasAtMost255Characters() {
    assertThat(KeyFormat.opaque().canonicalize("a".repeat(255))).isPresent();
    assertThat(KeyFormat.opaque().canonicalize("a".repeat(256))).isEmpty();
  }

  @Test
  void aPatternMatchesTheWholeKey() {
    KeyFormat format = KeyFormat.matching(Pattern.compile("order-[0-9]+"));

    assertThat(format.canonicalize("order-12")).contains("order-12");
    assertThat(format.canonicalize("my order-12")).isEmpty();
    assertThat(format.canonicalize("order-12x")).isEmpty();
  }
}
