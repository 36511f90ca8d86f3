package io.github.grpcidempotency.store;

import io.github.grpcidempotency.procedure.Procedure;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.UUID;

/**
 * Storage for the algorithm, shared by all servers of a service. Only the store's clock counts:
 * leases, expiry and ages are never computed from a server's.
 *
 * <p>Implementations are thread-safe and may block. The contract test in this module's test jar
 * says what else they keep.
 */
public interface IdempotencyStore {
  /**
   * Checks, at start-up, that the store can serve these procedures.
   *
   * @throws IllegalStateException if it cannot; the message lists every problem
   * @throws StoreException if the store cannot be reached
   */
  void verify(Collection<Procedure> procedures);

  /**
   * Reserves a key, or tells what stands there. An expired record is as good as none. A reservation
   * whose lease has ended is taken over if procedure and fingerprint are the same.
   *
   * @throws StoreException if the store cannot be reached; it says whether a holder was seen
   */
  ClaimResult claim(ClaimRequest request);

  /**
   * Renews the leases of claims of this store in one statement, each for {@link #lease} from now.
   *
   * @return the operation ids of the claims that are still owned
   * @throws StoreException if the store cannot be reached
   */
  Set<UUID> renew(Collection<Claim> claims);

  /** Returns how long a claim lasts unless it is renewed. */
  Duration lease();
}
