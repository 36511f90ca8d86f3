package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

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
   * @throws io.github.grpcidempotency.procedure.SetupException if it cannot; it lists every problem
   * @throws StoreException if the store cannot be reached
   */
  void verify(Collection<Procedure> procedures);

  /**
   * Reserves a key, or tells what stands there. An expired record is as good as none. A reservation
   * whose lease has ended is taken over if procedure and fingerprint are the same.
   *
   * <p>For a transactional procedure the claim that wins has a transaction open, and what is in
   * flight elsewhere tells neither its request nor its procedure.
   *
   * @throws StoreException if the store failed; it says how far the claim had come, and why
   */
  ClaimResult claim(ClaimRequest request);

  /**
   * Lets the retention of a record begin anew, for a request that is about to be answered with it,
   * unless a tenth of it has not passed yet. Asked for procedures only whose records are retained
   * from their last replay.
   *
   * @return until when the record answers retries now
   * @throws StoreException if the store failed; the record is as good as before
   */
  Instant retain(ClaimRequest request, ClaimResult.Recorded recorded);

  /**
   * Renews the leases of claims of this store in one statement, each for {@link #lease} from now.
   * Claims with a transaction have no lease and stay owned.
   *
   * @return the operation ids of the claims that are still owned
   * @throws StoreException if the store cannot be reached
   */
  Set<UUID> renew(Collection<Claim> claims);

  /**
   * Opens a transaction for a call of a transactional procedure that carries no key.
   *
   * @param caller on whose behalf it works, if that is known
   * @throws StoreException if the store cannot be reached
   * @throws UnsupportedOperationException if the store has no transactions
   */
  StoreTransaction begin(Optional<Caller> caller);

  /**
   * Returns a look-out for the end of operations. Telling of an end that was none is allowed, and
   * so is telling late, by about a second.
   *
   * @param ended is told, on a thread of the store's; it does not block
   */
  CompletionWatch watch(Consumer<IdempotencyKey> ended);

  /** Returns how long a claim lasts unless it is renewed. */
  Duration lease();
}
