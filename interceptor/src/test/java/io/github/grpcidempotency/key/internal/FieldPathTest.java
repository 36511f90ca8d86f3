package io.github.grpcidempotency.key.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.testing.v1.OlderSyntax;
import org.junit.jupiter.api.Test;

class FieldPathTest {
  private static final OlderSyntax MESSAGE =
      OlderSyntax.newBuilder()
          .setName("a name")
          .setWord("a word")
          .setExtension(OlderSyntax.own, OlderSyntax.newBuilder().setName("another").build())
          .build();

  @Test
  void anExtensionIsNoFieldOfTheTypeThatItIsDeclaredIn() {
    assertThat(OlderSyntax.getDescriptor().findFieldByName("foreign")).isNotNull();

    assertThat(FieldPath.of(OlderSyntax.getDescriptor(), "foreign")).isEmpty();
    assertThat(FieldPath.of(OlderSyntax.getDescriptor(), "own")).isEmpty();
  }

  @Test
  void aRequiredFieldCanBeRemoved() {
    FieldPath name = FieldPath.of(OlderSyntax.getDescriptor(), "name").orElseThrow();
    FieldPath word = FieldPath.of(OlderSyntax.getDescriptor(), "word").orElseThrow();

    assertThat(name.isRequired()).isTrue();
    assertThat(word.isRequired()).isFalse();
    assertThat(name.without(MESSAGE)).isEqualTo(MESSAGE.toBuilder().clearName().buildPartial());
    assertThat(word.only(MESSAGE))
        .isEqualTo(OlderSyntax.newBuilder().setWord("a word").buildPartial());
  }
}
