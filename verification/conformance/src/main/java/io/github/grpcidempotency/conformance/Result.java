package io.github.grpcidempotency.conformance;

import io.github.grpcidempotency.conformance.v1.Case;
import java.util.List;

/**
 * The result of a case.
 *
 * @param violations what the last step should have shown; empty if the case has passed
 * @param transcript what was sent and what came back
 */
record Result(Case tested, Verdict verdict, List<String> violations, List<String> transcript) {
  enum Verdict {
    PASSED,
    FAILED,
    /** The server does not offer the method: a choice of the server. */
    NOT_OFFERED
  }
}
