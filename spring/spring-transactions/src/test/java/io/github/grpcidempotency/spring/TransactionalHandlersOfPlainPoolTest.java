package io.github.grpcidempotency.spring;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;

/** The row whose manager and whose pool each have a row in {@link TransactionalHandlersTest}. */
@Tag("torture")
@ParameterizedClass
@CsvSource("JPA, BEFORE_HANDLER")
class TransactionalHandlersOfPlainPoolTest extends TransactionalHandlersTest {
  TransactionalHandlersOfPlainPoolTest(Host.Kind kind, Way way) {
    super(kind, way);
  }
}
