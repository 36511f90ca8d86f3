package io.github.grpcidempotency.admin;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * What operators do with the records of calls: find, list, free and forget them. It calls functions
 * that are granted to an operator's role alone, and every act leaves a row in an audit table that
 * this role cannot change.
 *
 * <p>Thread-safe; blocks on the database.
 */
public final class Administration {
  private Administration(DataSource operator, String schema) {}

  /**
   * Opens the administration of a schema.
   *
   * @param operator connects as the operator's role
   * @param schema the library's schema, {@code idempotency} by default
   */
  public static Administration on(DataSource operator, String schema) {
    return new Administration(operator, schema);
  }

  /** Returns an operation by its id. */
  public Optional<OperationRecord> find(UUID id) {
    throw new UnsupportedOperationException();
  }

  /**
   * Returns the operations of a key: one per user and namespace.
   *
   * @param key the key as the client sends it, in its canonical form
   * @param namespace tenant and project, as {@code acme/apollo}; empty for a key outside of both
   */
  public List<OperationRecord> findKey(String key, String namespace) {
    throw new UnsupportedOperationException();
  }

  /** Lists operations, those that were created last first. */
  public List<OperationRecord> list(OperationQuery query) {
    throw new UnsupportedOperationException();
  }

  /** Returns what is recorded of an operation's outcome. Needs a right of its own; is audited. */
  public Optional<Contents> contents(UUID id, Act act) {
    throw new UnsupportedOperationException();
  }

  /**
   * Deletes a reservation, so that the next call with its key runs.
   *
   * @param evenIfLive frees it even if its owner lives; the owner's answer is then not recorded,
   *     and a retry may run beside it
   * @param dryRun only says what would happen
   */
  public ActResult free(UUID id, Act act, boolean evenIfLive, boolean dryRun) {
    throw new UnsupportedOperationException();
  }

  /**
   * Deletes a recorded outcome: the next call with its key runs the handler again.
   *
   * @param dryRun only says what would happen
   */
  public ActResult forget(UUID id, Act act, boolean dryRun) {
    throw new UnsupportedOperationException();
  }

  /** Returns the table in numbers. */
  public Statistics statistics() {
    throw new UnsupportedOperationException();
  }

  /**
   * Deletes expired records until none is left, in batches.
   *
   * @return how many were deleted
   */
  public long sweep(Act act) {
    throw new UnsupportedOperationException();
  }

  /** Returns the newest acts, the newest first. */
  public List<AuditEntry> audit(Optional<UUID> operationId, int limit) {
    throw new UnsupportedOperationException();
  }
}
