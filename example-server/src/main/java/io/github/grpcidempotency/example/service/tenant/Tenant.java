package io.github.grpcidempotency.example.service.tenant;

import com.google.protobuf.Message;
import io.github.grpcidempotency.example.service.caller.CurrentCaller;
import io.github.grpcidempotency.example.service.outbox.Outbox;
import io.github.grpcidempotency.example.service.outbox.OutboxEntry;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.TransactionalCompletion;
import java.sql.SQLException;
import java.util.Optional;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.TransactionException;

/** The database, limited to the rows that the caller of the current gRPC call may see. */
public final class Tenant {
  private static final String BE_CALLER = "SELECT set_config('app.current_user_id', :userId, true)";

  private final Jdbi jdbi;
  private final Jdbi claims;
  private final Outbox outbox;

  /** Creates the view on a pool of the application's role. */
  /**
   * Creates it.
   *
   * @param claims opens the transaction of the current call
   */
  public Tenant(Jdbi jdbi, Jdbi claims, Outbox outbox) {
    this.jdbi = jdbi;
    this.claims = claims;
    this.outbox = outbox;
  }

  /**
   * Runs work in a transaction of the caller, without an outbox entry.
   *
   * @param work receives the caller's transaction and organization
   */
  public <T> T asCaller(Function<CallerHandle, T> work) {
    return as(CurrentCaller.get(), work);
  }

  /** Runs work in a transaction of a given caller, without an outbox entry. */
  public <T> T as(Caller caller, Function<CallerHandle, T> work) {
    return jdbi.inTransaction(
        handle -> {
          become(handle, caller);
          return work.apply(new CallerHandle(handle, caller));
        });
  }

  /**
   * Creates a resource and its outbox row in one transaction of the caller.
   *
   * @param insert writes the resource; empty, if the caller has no such parent
   * @return empty, with nothing written, if {@code insert} returned empty
   */
  public <T> Optional<T> create(OutboxEntry entry, Function<CallerHandle, Optional<T>> insert) {
    return asCaller(tenant -> create(tenant, entry, insert));
  }

  /**
   * Creates a resource and its outbox row in the transaction of a transactional procedure's call.
   * The interceptor has opened the transaction as the caller, and commits it together with the
   * record of the answer.
   */
  public <T> Optional<T> createWithinClaim(
      OutboxEntry entry, Function<CallerHandle, Optional<T>> insert) {
    return withinClaim(claim -> create(claim, entry, insert));
  }

  /** Runs work in the transaction of the call, without an outbox entry. */
  public <T> T withinClaim(Function<CallerHandle, T> work) {
    return work.apply(new CallerHandle(claims.open(), CurrentCaller.get()));
  }

  /**
   * Creates a resource in a separate transaction, whose commit also records the call's answer. A
   * reserved procedure does this last, after its slow work.
   *
   * @param response builds the answer from the created resource
   */
  public <T, R extends Message> Optional<R> createAndComplete(
      OutboxEntry entry, Function<CallerHandle, Optional<T>> insert, Function<T, R> response) {
    return asCaller(
        tenant -> {
          Optional<R> answer = create(tenant, entry, insert).map(response);
          answer.ifPresent(made -> complete(tenant.handle(), made));
          return answer;
        });
  }

  private static void complete(Handle handle, Message response) {
    try {
      TransactionalCompletion.completeAndCommit(handle.getConnection(), response);
    } catch (SQLException failure) {
      throw new TransactionException("could not record the answer with the effect", failure);
    }
  }

  private <T> Optional<T> create(
      CallerHandle tenant, OutboxEntry entry, Function<CallerHandle, Optional<T>> insert) {
    Optional<T> created = insert.apply(tenant);
    if (created.isPresent()) {
      outbox.enqueue(tenant.handle(), tenant.caller().userId(), entry);
    }
    return created;
  }

  /**
   * Sets the user for the transaction only: a session setting would leak to the next user of the
   * connection.
   */
  private static void become(Handle handle, Caller caller) {
    handle
        .createQuery(BE_CALLER)
        .bind("userId", caller.userId().toString())
        .mapTo(String.class)
        .one();
  }
}
