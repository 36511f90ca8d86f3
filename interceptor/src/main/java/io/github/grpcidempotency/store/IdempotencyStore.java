package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.IdempotencyKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Storage for the algorithm, shared by all servers of a service. It keeps what it is given and
 * knows no policy: answers are opaque bytes, requests are fingerprints. Only the store's clock
 * counts: leases, expiry and ages are never computed from a server's.
 *
 * <p>Implementations are thread-safe and may block. {@code IdempotencyStoreContract} says what else
 * they guarantee.
 */
public interface IdempotencyStore {
  /**
   * Checks, at start-up, that the store can serve these procedures.
   *
   * @throws io.github.grpcidempotency.procedure.SetupException if it cannot; it lists every problem
   * @throws StoreException if the store cannot be reached
   */
  void verify(Collection<RecordedProcedure> procedures);

  /**
   * Reserves a key, or returns what is recorded under it. An expired record counts as none. A
   * reservation whose lease has ended is taken over if {@link ClaimRequest#isFor procedure and
   * fingerprint} are the same.
   *
   * @throws StoreException if the store failed; the exception says how far the claim had come, and
   *     why
   */
  ClaimResult claim(ClaimRequest request);

  /**
   * Returns what is recorded or running under a key, and changes nothing. An abandoned reservation
   * is in flight with no lease left. Empty if there is nothing, or what there is has expired.
   *
   * @throws StoreException if the store failed
   */
  Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure);

  /**
   * Restarts the retention of a record that is about to be replayed, unless less than a tenth of it
   * has passed. Called only for procedures whose records are retained from their last replay.
   *
   * @return until when the record answers retries now
   * @throws StoreException if the store failed; the record keeps its old retention
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
   * Returns a watch for the end of operations. It may report an end that has not happened, and it
   * may report about a second late.
   *
   * @param ended gets each key, on a thread of the store; it must not block
   */
  CompletionWatch watch(Consumer<IdempotencyKey> ended);

  /**
   * Returns the name of the shard that the data itself says it is, if somebody has marked it, so
   * that a {@link ShardedStore} finds out when two are mixed up. Asked at start-up.
   *
   * @throws StoreException if the store cannot be reached
   */
  default Optional<String> markedShard() {
    return Optional.empty();
  }

  /** Returns how long a claim lasts unless it is renewed. */
  Duration lease();
}
