package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains that a migration of the application calls functions of the library's schema, which was
 * not migrated.
 */
final class MissingSchemaFailureAnalyzer extends AbstractFailureAnalyzer<SQLException> {
  private static final String INVALID_SCHEMA_NAME = "3F000";

  @Override
  protected @Nullable FailureAnalysis analyze(Throwable rootFailure, SQLException cause) {
    String schema = "schema \"%s\"".formatted(IdempotencySchema.DEFAULT_NAME);
    if (!INVALID_SCHEMA_NAME.equals(cause.getSQLState())
        || !String.valueOf(cause.getMessage()).contains(schema)) {
      return null;
    }
    return new FailureAnalysis(
        "The library's %s does not exist: it was not migrated before the application's own"
                .formatted(schema)
            + " migrations.",
        "Set grpc.idempotency.migration.username and .password to the role that owns the tables, or"
            + " migrate the schema with another tool, as the page \"Migrations without Flyway\" of the"
            + " documentation describes. With grpc.idempotency.enabled=false the starter does not migrate it either.",
        cause);
  }
}
