package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.thing.Transport;
import org.junit.jupiter.api.Nested;

/** What the module of a store extends to run the tests of calls on its {@link JourneyStore}. */
abstract class EveryJourney {
  @Nested
  class Answers extends AnswersTest {
    Answers(Transport transport) {
      super(transport);
    }
  }

  @Nested
  class Attach extends AttachTest {
    Attach(Transport transport) {
      super(transport);
    }
  }

  @Nested
  class Cancellations extends CancellationsTest {
    Cancellations(Transport transport) {
      super(transport);
    }
  }

  @Nested
  class Failures extends FailuresTest {}

  @Nested
  class Ownership extends OwnershipTest {}

  @Nested
  class Policies extends PoliciesTest {}

  @Nested
  class Refusals extends RefusalsTest {}
}
