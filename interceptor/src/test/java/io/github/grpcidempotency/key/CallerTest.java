package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CallerTest {
  private static final Caller USER = Caller.of(new UUID(1, 2));

  @Test
  void anotherTenantLeavesTheProject() {
    assertThat(USER.inTenant("acme").inProject("apollo").inTenant("other"))
        .isEqualTo(USER.inTenant("other"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        "A-Z_0.9~",
        "0190163d-8694-739b-aea5-966c26f8ad91",
        "-",
        "a/b",
        "a:b",
        "an ä"
      })
  void aNameIsAnyText(String name) {
    assertThat(USER.inTenant(name).tenant()).contains(name);
    assertThat(USER.inProject(name).project()).contains(name);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", " a", "a ", "a\nb", "a\0b", "a\ud800"})
  void aNameThatNobodyWouldFindAgainIsRefused(String name) {
    assertThatIllegalArgumentException().isThrownBy(() -> USER.inTenant(name));
    assertThatIllegalArgumentException().isThrownBy(() -> USER.inProject(name));
  }

  /** As {@code uuid.uuid5} of Python has it. */
  @ParameterizedTest
  @CsvSource({
    "auth0|65a1, ef04a57c-af01-5f10-90b2-b26050da49d7",
    "jürgen, 8432d6f3-4935-5a7b-a40e-8ab326757a15",
    "a, f8e0cb22-fd3c-502d-87fd-5cca07aa1cc4"
  })
  void aSubjectIsTheSameUserInEveryLanguage(String subject, UUID userId) {
    assertThat(Caller.ofSubject(subject)).isEqualTo(Caller.of(userId));
  }

  @Test
  void subjectsAreComparedAsTheyAre() {
    assertThat(Caller.ofSubject("alice")).isNotEqualTo(Caller.ofSubject("Alice"));
    assertThat(Caller.ofSubject("alice")).isNotEqualTo(Caller.ofSubject("alice "));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\ud800", "a\udc00"})
  void aSubjectIsTextAndNotEmpty(String subject) {
    assertThatIllegalArgumentException().isThrownBy(() -> Caller.ofSubject(subject));
  }

  @Test
  void aNameHasAtMost63Characters() {
    assertThat(USER.inTenant("a".repeat(63)).tenant()).contains("a".repeat(63));
    assertThatIllegalArgumentException().isThrownBy(() -> USER.inTenant("a".repeat(64)));
  }
}
