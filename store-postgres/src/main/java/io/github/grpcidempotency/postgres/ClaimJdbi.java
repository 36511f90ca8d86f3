package io.github.grpcidempotency.postgres;

import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** The {@link ClaimTransaction} for handlers that use Jdbi. */
public final class ClaimJdbi {
  private static final Jdbi PLAIN = create();

  private ClaimJdbi() {}

  /**
   * Returns the transaction of the current call as a handle of a Jdbi without plugins.
   *
   * @throws IllegalStateException if the current call has no such transaction
   */
  public static Handle handle() {
    return PLAIN.open();
  }

  /**
   * Returns a new Jdbi, each of whose handles uses the transaction of the call that opens it.
   * Create one for a service, and install plugins and mappers in it.
   */
  public static Jdbi create() {
    return Jdbi.create(ClaimTransaction::connection);
  }
}
