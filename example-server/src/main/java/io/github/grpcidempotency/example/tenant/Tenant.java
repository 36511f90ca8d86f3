package io.github.grpcidempotency.example.tenant;

import io.github.grpcidempotency.example.caller.CurrentCaller;
import io.github.grpcidempotency.example.outbox.Outbox;
import io.github.grpcidempotency.example.outbox.OutboxEntry;
import io.github.grpcidempotency.key.Caller;
import java.util.Optional;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** The database as the caller of the current gRPC call may see it. */
public final class Tenant {
  private static final String BE_CALLER = "SELECT set_config('app.current_user_id', :userId, true)";

  private final Jdbi jdbi;
  private final Outbox outbox;

  /** Makes the view on a pool of the application's role. */
  public Tenant(Jdbi jdbi, Outbox outbox) {
    this.jdbi = jdbi;
    this.outbox = outbox;
  }

  /**
   * Reads in a transaction of the caller.
   *
   * @param query what is read; it gets the caller's transaction and organization
   */
  public <T> T read(Function<CallerHandle, T> query) {
    return inTransaction(query);
  }

  /**
   * Creates a resource and its outbox row in one transaction of the caller.
   *
   * @param insert writes the resource; empty, if the caller has no such parent
   * @return empty, with nothing written, if {@code insert} returned empty
   */
  public <T> Optional<T> create(OutboxEntry entry, Function<CallerHandle, Optional<T>> insert) {
    return inTransaction(
        tenant -> {
          Optional<T> created = insert.apply(tenant);
          if (created.isPresent()) {
            outbox.enqueue(tenant.handle(), tenant.caller().userId(), entry);
          }
          return created;
        });
  }

  private <T> T inTransaction(Function<CallerHandle, T> work) {
    Caller caller = CurrentCaller.get();
    return jdbi.inTransaction(
        handle -> {
          become(handle, caller);
          return work.apply(new CallerHandle(handle, caller));
        });
  }

  /**
   * Ends with the transaction: a session's setting would leak to whoever gets the connection next.
   */
  private static void become(Handle handle, Caller caller) {
    handle
        .createQuery(BE_CALLER)
        .bind("userId", caller.userId().toString())
        .mapTo(String.class)
        .one();
  }
}
