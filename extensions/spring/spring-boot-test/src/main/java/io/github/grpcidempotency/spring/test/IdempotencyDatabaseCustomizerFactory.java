package io.github.grpcidempotency.spring.test;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Finds the annotation on a test class, its superclasses and its enclosing classes. */
final class IdempotencyDatabaseCustomizerFactory implements ContextCustomizerFactory {
  @Override
  public @Nullable ContextCustomizer createContextCustomizer(
      Class<?> testClass, List<ContextConfigurationAttributes> configuration) {
    IdempotencyDatabase found =
        TestContextAnnotationUtils.findMergedAnnotation(testClass, IdempotencyDatabase.class);
    return found == null
        ? null
        : new IdempotencyDatabaseCustomizer(
            found.application(), found.owner(), found.serviceConnection());
  }
}
