package io.github.grpcidempotency.spring;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;

/** The row whose manager and whose pool each have a row in {@link JoinedCompletionTest}. */
@Tag("torture")
@ParameterizedClass
@CsvSource("JPA, RESERVED")
class JoinedCompletionOfPlainPoolTest extends JoinedCompletionTest {
  JoinedCompletionOfPlainPoolTest(Host.Kind kind, Way way) {
    super(kind, way);
  }
}
