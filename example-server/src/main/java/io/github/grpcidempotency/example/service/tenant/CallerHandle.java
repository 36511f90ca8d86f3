package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.key.Caller;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/** A transaction in which row-level security shows only the caller's rows. */
public record CallerHandle(Handle handle, Caller caller) {

  /** Returns a statement with {@code :userId} and {@code :organization} bound. */
  Query query(String sql) {
    return handle
        .createQuery(sql)
        .bind("userId", caller.userId())
        .bind("organization", caller.tenant().orElse(""));
  }
}
