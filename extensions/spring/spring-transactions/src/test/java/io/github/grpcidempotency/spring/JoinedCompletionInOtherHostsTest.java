package io.github.grpcidempotency.spring;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;

/** The rows whose manager and whose pool each have a row in {@link JoinedCompletionTest}. */
@Tag("torture")
@ParameterizedClass
class JoinedCompletionInOtherHostsTest extends JoinedCompletionTest {
  static List<Arguments> rows() {
    return List.of(
        Arguments.of(Host.Kind.JPA, Way.RESERVED),
        Arguments.of(Host.Kind.JDBC, Way.RESERVED_CARRYING));
  }

  JoinedCompletionInOtherHostsTest(Host.Kind kind, Way way) {
    super(kind, way);
  }
}
