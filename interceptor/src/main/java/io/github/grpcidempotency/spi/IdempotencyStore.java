package io.github.grpcidempotency.spi;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * The storage of records, shared by all servers of a service. A store contains no policies: answers
 * are opaque bytes, and requests are fingerprints. Leases, expiry times and ages are computed from
 * the store's clock, never from a server's clock.
 *
 * <p>Implementations are thread-safe and may block. The tests of {@code IdempotencyStoreContract}
 * define their other guarantees.
 */
public interface IdempotencyStore {
  /**
   * Checks, at start-up, that the store can serve these procedures.
   *
   * @param shard the name of the store's shard, if it is one of several. If the database contains
   *     the name of another shard, the databases are swapped, and the check fails
   * @throws io.github.grpcidempotency.store.SetupException if the store cannot serve them; it lists
   *     every problem
   * @throws StoreException if the store cannot be reached
   */
  void verify(Collection<RecordedProcedure> procedures, Optional<String> shard);

  /**
   * Reserves a key, or returns its record or its owner. An expired record counts as absent. A
   * reservation whose lease has ended is taken over if {@link ClaimRequest#isFor procedure and
   * fingerprint} are the same.
   *
   * @throws java.util.concurrent.CancellationException if the call was {@linkplain
   *     ClaimRequest#gone gone} before the store has sent the claim; a store need not check this
   * @throws StoreException if the store failed; the exception contains the progress of the claim
   *     and the reason
   */
  ClaimResult claim(ClaimRequest request);

  /**
   * Returns the record or the running operation of a key, and changes nothing. An abandoned
   * reservation is returned as running, with no lease left. Empty if there is none, or it has
   * expired.
   *
   * @throws StoreException if the store failed
   */
  Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure);

  /**
   * Restarts the retention of a record that is about to be replayed, unless less than a tenth of it
   * has passed. Called only for procedures whose records are retained from their last replay.
   *
   * @return the new expiry time of the record
   * @throws StoreException if the store failed; the record keeps its expiry time
   */
  Instant retain(ClaimRequest request, ClaimResult.Recorded recorded);

  /**
   * Renews the leases of claims of this store in one statement, each for {@link #lease} from now.
   * Claims with a transaction have no lease and keep their key.
   *
   * @return the operation ids of the claims that still own their key
   * @throws StoreException if the store cannot be reached
   */
  Set<UUID> renew(Collection<Claim> claims);

  /**
   * Returns a watch for the end of operations. It may report an end that has not happened, and a
   * report may be about a second late.
   *
   * @param ended receives each key, on a thread of the store; must not block
   */
  CompletionWatch watch(Consumer<IdempotencyKey> ended);

  /**
   * Returns the distinct first five bytes of the newest recorded answers of a procedure, which name
   * the keys that have encrypted them; no bytes for answers that are not encrypted. By default,
   * returns nothing.
   *
   * @throws StoreException if the store cannot be reached
   */
  default Set<ByteString> answerBeginnings(String procedure) {
    return Set.of();
  }

  /** Returns how often this process has sent statements for several calls at once. */
  default BatchCounts batches() {
    return BatchCounts.NONE;
  }

  /** Returns how many of its own connections are in use in this process. */
  default ConnectionCounts connectionCounts() {
    return ConnectionCounts.NONE;
  }

  /** Returns how long a claim lasts unless it is renewed. */
  Duration lease();
}
