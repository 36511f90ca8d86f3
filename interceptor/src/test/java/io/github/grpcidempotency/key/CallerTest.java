package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallerTest {
  private static final UUID USER = new UUID(1, 2);

  @Test
  void aUserHasNoNamespaceUnlessOneIsGiven() {
    assertThat(Caller.of(USER)).isEqualTo(new Caller(USER, ""));
    assertThat(Caller.of(USER).in("tenant")).isEqualTo(new Caller(USER, "tenant"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a", "organizations/1", "A-Z_0.9~"})
  void aNamespaceMayBeAPath(String namespace) {
    assertThat(Caller.of(USER).in(namespace).namespace()).isEqualTo(namespace);
  }

  @ParameterizedTest
  @ValueSource(strings = {":", "a:b", " ", "a\n", "ä"})
  void aNamespaceHasNoOtherCharacters(String namespace) {
    assertThatIllegalArgumentException().isThrownBy(() -> Caller.of(USER).in(namespace));
  }

  @Test
  void aNamespaceHasAtMost128Characters() {
    assertThat(Caller.of(USER).in("a".repeat(128)).namespace()).hasSize(128);
    assertThatIllegalArgumentException().isThrownBy(() -> Caller.of(USER).in("a".repeat(129)));
  }
}
