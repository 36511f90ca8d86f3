package io.github.grpcidempotency.postgres.internal.claim;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.batch.BatchStatement;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.RecordRow;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;

/**
 * Reads the rows of several keys, with their statuses. Each key has a statement of its own, because
 * policies of the service's tables, which the outbox query reads, may depend on the one user of a
 * call.
 *
 * @param sql the statement of one key
 */
record FindBatch(String sql) implements BatchStatement<IdempotencyKey, Optional<RecordRow>> {
  private static final int MAX_CALLS = 16;

  @Override
  public Kind kind() {
    return Kind.FIND;
  }

  /** Few sizes, because each one is a text of its own, which every connection has to prepare. */
  @Override
  public int size(int waiting) {
    return Integer.highestOneBit(Math.min(waiting, MAX_CALLS));
  }

  @Override
  public List<Optional<Optional<RecordRow>>> run(Connection connection, List<IdempotencyKey> keys) {
    return StatementBatch.runForEach(connection, sql, keys, Parameters::bindKey, RecordRow::read)
        .stream()
        .map(rows -> Optional.of(rows.stream().findFirst()))
        .toList();
  }
}
