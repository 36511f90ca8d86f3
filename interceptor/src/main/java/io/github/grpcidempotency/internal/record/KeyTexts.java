package io.github.grpcidempotency.internal.record;

import io.github.grpcidempotency.key.KeyException;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.Procedure;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Finds the text of the key that a client's value stands for. */
public final class KeyTexts {
  private KeyTexts() {}

  /**
   * Returns the text for each key source of a procedure that makes a key of the value, in the order
   * of the sources.
   */
  public static Set<String> of(Procedure procedure, String value) {
    Set<String> texts = new LinkedHashSet<>();
    for (KeySource source :
        procedure.keySource().map(KeySource::alternatives).orElseGet(() -> header(procedure))) {
      try {
        Objects.requireNonNull(
                source.keyOf(value), () -> "the key source " + source.name() + " returned null")
            .ifPresent(texts::add);
      } catch (KeyException otherSource) {
        // The text is not a value of this source.
      }
    }
    return texts;
  }

  private static List<KeySource> header(Procedure procedure) {
    return List.of(KeySource.metadata("key").as(procedure.keyFormat()));
  }
}
