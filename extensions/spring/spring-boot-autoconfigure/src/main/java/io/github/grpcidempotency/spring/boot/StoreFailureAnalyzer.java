package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.store.StoreException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.NestedExceptionUtils;

/** Says why the store could not be checked at start-up. */
final class StoreFailureAnalyzer extends AbstractFailureAnalyzer<StoreException> {
  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, StoreException cause) {
    return new FailureAnalysis(
        "The store of idempotency records cannot be checked (%s): %s: %s"
            .formatted(
                cause.failureCause(),
                cause.getMessage(),
                NestedExceptionUtils.getMostSpecificCause(cause).getMessage()),
        "Check that the database runs, and that the data source's URL and credentials are right."
            + " The application does not start without it, because calls would run unprotected.",
        cause);
  }
}
