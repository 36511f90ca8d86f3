package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallerTest {
  private static final Caller USER = Caller.of(new UUID(1, 2));

  @Test
  void aNamespaceNamesTenantAndProjectOrSaysThatTheCallStandsAboveThem() {
    assertThat(USER.namespace()).isEmpty();
    assertThat(USER.inTenant("acme").namespace()).isEqualTo("acme/-");
    assertThat(USER.inProject("apollo").namespace()).isEqualTo("-/apollo");
    assertThat(USER.inTenant("acme").inProject("apollo").namespace()).isEqualTo("acme/apollo");
  }

  @Test
  void anotherTenantLeavesTheProject() {
    assertThat(USER.inTenant("acme").inProject("apollo").inTenant("other"))
        .isEqualTo(USER.inTenant("other"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "A-Z_0.9~", "0190163d-8694-739b-aea5-966c26f8ad91", "_"})
  void aNameIsAnIdOrAWord(String name) {
    assertThat(USER.inTenant(name).tenant()).contains(name);
    assertThat(USER.inProject(name).project()).contains(name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-", "-a", ".", "~", ":", "a:b", "a/b", " ", "a\n", "ä"})
  void aNameIsNeitherReservedNorHasOtherCharacters(String name) {
    assertThatIllegalArgumentException().isThrownBy(() -> USER.inTenant(name));
    assertThatIllegalArgumentException().isThrownBy(() -> USER.inProject(name));
  }

  @Test
  void aNameHasAtMost63Characters() {
    assertThat(USER.inTenant("a".repeat(63)).namespace()).hasSize(65);
    assertThatIllegalArgumentException().isThrownBy(() -> USER.inTenant("a".repeat(64)));
  }
}
