package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.store.StoreException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.NestedExceptionUtils;

/** Explains why the store could not be checked at start-up. */
final class StoreFailureAnalyzer extends AbstractFailureAnalyzer<StoreException> {
  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, StoreException cause) {
    return new FailureAnalysis(
        "The store of idempotency records could not be checked (%s): %s: %s"
            .formatted(
                cause.failureCause(),
                cause.getMessage(),
                NestedExceptionUtils.getMostSpecificCause(cause).getMessage()),
        "Check that the database is running, and that the URL and the credentials of the data"
            + " source are correct. The application does not start without the database, because"
            + " calls would run unprotected.",
        cause);
  }
}
