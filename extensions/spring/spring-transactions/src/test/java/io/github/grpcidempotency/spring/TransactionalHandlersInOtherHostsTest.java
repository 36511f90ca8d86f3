package io.github.grpcidempotency.spring;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;

/** The rows whose manager and whose pool each have a row in {@link TransactionalHandlersTest}. */
@Tag("torture")
@ParameterizedClass
class TransactionalHandlersInOtherHostsTest extends TransactionalHandlersTest {
  static List<Arguments> rows() {
    return List.of(
        Arguments.of(Host.Kind.JPA, Way.BEFORE_HANDLER),
        Arguments.of(Host.Kind.JDBC, Way.WITH_FIRST_STATEMENT));
  }

  TransactionalHandlersInOtherHostsTest(Host.Kind kind, Way way) {
    super(kind, way);
  }
}
