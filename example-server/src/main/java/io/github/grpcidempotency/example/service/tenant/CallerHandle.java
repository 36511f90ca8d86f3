package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.key.Caller;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/** A transaction in which row-level security shows the caller's rows only. */
public record CallerHandle(Handle handle, Caller caller) {

  /** Returns a statement with {@code :organization} bound. */
  Query query(String sql) {
    return handle.createQuery(sql).bind("organization", caller.tenant().orElse(""));
  }

  /** Returns the same, with the {@code :id} of a resource or a parent. */
  Query query(String sql, UUID id) {
    return query(sql).bind("id", id);
  }
}
