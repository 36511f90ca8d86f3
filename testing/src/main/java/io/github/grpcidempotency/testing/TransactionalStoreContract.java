package io.github.grpcidempotency.testing;

import static io.github.grpcidempotency.store.Claim.Settled.DONE;
import static io.github.grpcidempotency.store.Claim.Settled.ROLLED_BACK;
import static io.github.grpcidempotency.testing.IdempotencyStoreContract.ANSWER;
import static io.github.grpcidempotency.testing.IdempotencyStoreContract.CREATE_THING;
import static io.github.grpcidempotency.testing.IdempotencyStoreContract.LONG_LEASE;
import static io.github.grpcidempotency.testing.IdempotencyStoreContract.SHORT_RETENTION;
import static io.github.grpcidempotency.testing.IdempotencyStoreContract.answerWith;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.PendingClaim;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreTransaction;
import io.github.grpcidempotency.store.TransactionalStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The tests of the guarantees of every {@link TransactionalStore}, in addition to those of {@link
 * IdempotencyStoreContract}. Extend this class as well, and implement how a handler creates a thing
 * through a claim's transaction. The tests of claims with the handler's first statement are skipped
 * for a store that does not support such claims.
 *
 * <p>Each test uses its own users, keys and things. Concurrent calls run on separate threads, so
 * transactions may be bound to threads. A pool of ten connections is enough.
 */
public abstract class TransactionalStoreContract {
  private static final RecordedOutcome FAILURE =
      new RecordedOutcome.Failure(ByteString.copyFromUtf8("an error"));

  /** An action that takes longer than this hangs. */
  private static final Duration FOR_EVER = Duration.ofSeconds(30);

  private static final int RACERS = 16;

  private final Caller user = Caller.of(UUID.randomUUID());
  private final ClaimRequest request = requestOf(user, Duration.ofHours(24));
  private final ExecutorService others = Executors.newCachedThreadPool();
  private ResourceId thing;

  /**
   * Creates the store under test. Called once at the beginning of every test.
   *
   * @param lease how long its reservations last unless they are renewed
   */
  protected abstract TransactionalStore newStore(Duration lease);

  /** Lets this much of the store's time pass, as {@link IdempotencyStoreContract#letPass} does. */
  protected abstract void letPass(Duration time);

  /** Returns the id of a thing that does not exist yet. Override it if ids are not UUIDs. */
  protected ResourceId newId() {
    return ResourceId.of(UUID.randomUUID());
  }

  /**
   * Creates a resource of the type {@code thing} for the claim's user, as the handler of a claim
   * does: with one statement through its transaction. It fails if the thing exists, and waits if
   * another open transaction has created it.
   *
   * @throws RuntimeException if the statement fails, or does not run
   */
  protected abstract void create(StoreTransaction transaction, ResourceId thing);

  /** Returns whether the creation of a thing is committed. */
  protected abstract boolean exists(ResourceId thing);

  @BeforeEach
  void chooseAThing() {
    thing = newId();
  }

  @AfterEach
  void endThreads() {
    others.shutdownNow();
  }

  // Claims before the handler

  @Test
  void effectAndRecordAreOneCommit() {
    TransactionalStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request);
    create(claim, thing);
    assertThat(exists(thing)).isFalse();

    assertThat(claim.complete(answerWith(thing))).isEqualTo(DONE);

    assertThat(exists(thing)).isTrue();
    assertRecorded(store, claim, answerWith(thing));
  }

  @Test
  void aReleasedTransactionLeavesNothing() {
    TransactionalStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request);
    create(claim, thing);

    assertThat(claim.release()).isEqualTo(DONE);

    assertNothingRemains(store);
  }

  @Test
  void aTerminalErrorIsRecordedWithoutTheEffect() {
    TransactionalStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request);
    create(claim, thing);

    assertThat(claim.complete(FAILURE)).isEqualTo(DONE);

    assertThat(exists(thing)).isFalse();
    assertRecorded(store, claim, FAILURE);
  }

  @Test
  void aTransactionSetToRollbackOnlyRecordsNothing() {
    TransactionalStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request);
    create(claim, thing);
    transactionOf(claim).setRollbackOnly();

    assertThat(claim.complete(ANSWER)).isEqualTo(ROLLED_BACK);

    assertNothingRemains(store);
  }

  @Test
  void aRunningTransactionIsInFlight() {
    TransactionalStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request);

    assertInFlight(store);

    claim.release();
  }

  /** Otherwise a deployment that changes a procedure's execution would run its handler twice. */
  @Test
  void aReservedCallDoesNotRunBesideATransaction() {
    TransactionalStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request);
    create(claim, thing);

    assertThat(elsewhere(() -> store.claim(request))).isInstanceOf(ClaimResult.InFlight.class);

    assertThat(claim.complete(answerWith(thing))).isEqualTo(DONE);
    assertRecorded(store, claim, answerWith(thing));
  }

  @Test
  void aCallThatIsMarkedAsARetryGetsTheSameResult() {
    TransactionalStore store = newStore(LONG_LEASE);
    Claim claim = win(store, retry());
    create(claim, thing);
    assertThat(elsewhere(() -> store.claimInTransaction(retry())))
        .isInstanceOf(ClaimResult.InFlight.class);
    claim.complete(answerWith(thing));

    assertIsRecorded(store.claimInTransaction(retry()), claim, answerWith(thing));
  }

  // Claims with the handler's first statement

  @Test
  void aLateClaimIsWonByTheFirstStatement() {
    TransactionalStore store = storeWithLateClaims();
    PendingClaim claim = store.claimLater(request);
    assertThat(claim.request()).isEqualTo(request);
    assertThat(claim.isWon()).isFalse();

    create(claim, thing);

    assertThat(claim.isWon()).isTrue();
    assertInFlight(store);
    Claim won = claim.confirm().orElseThrow();
    assertThat(won.complete(answerWith(thing))).isEqualTo(DONE);
    assertThat(exists(thing)).isTrue();
    assertRecorded(store, won, answerWith(thing));
  }

  @Test
  void aLateClaimIsOneTransactionWithAllThatItsHandlerWrites() {
    TransactionalStore store = storeWithLateClaims();
    PendingClaim claim = store.claimLater(request);
    ResourceId another = newId();
    create(claim, thing);
    create(claim, another);
    Claim won = claim.confirm().orElseThrow();
    assertThat(exists(thing)).isFalse();

    assertThat(won.release()).isEqualTo(DONE);

    assertThat(exists(another)).isFalse();
    assertNothingRemains(store);
  }

  @Test
  void aLateClaimRecordsATerminalErrorWithoutTheEffect() {
    TransactionalStore store = storeWithLateClaims();
    PendingClaim claim = store.claimLater(request);
    create(claim, thing);
    Claim won = claim.confirm().orElseThrow();

    assertThat(won.complete(FAILURE)).isEqualTo(DONE);

    assertThat(exists(thing)).isFalse();
    assertRecorded(store, won, FAILURE);
  }

  @Test
  void aFirstStatementBehindARecordDoesNotRun() {
    TransactionalStore store = storeWithLateClaims();
    record(store);
    PendingClaim claim = store.claimLater(request);

    assertPreempted(claim);

    assertThat(exists(thing)).isFalse();
  }

  @Test
  void aFirstStatementBesideARunningCallDoesNotRunNorWaitForIt() {
    TransactionalStore store = storeWithLateClaims();
    Claim running = win(store, request);
    create(running, thing);

    elsewhere(
        () -> {
          assertPreempted(store.claimLater(request));
          return true;
        });

    assertThat(running.complete(answerWith(thing))).isEqualTo(DONE);
    assertThat(exists(thing)).isTrue();
    assertRecorded(store, running, answerWith(thing));
  }

  @Test
  void aFirstStatementBesideAReservationDoesNotRun() {
    TransactionalStore store = storeWithLateClaims();
    ClaimResult.Won reserved = (ClaimResult.Won) store.claim(request);

    assertPreempted(store.claimLater(request));

    assertThat(reserved.claim().complete(ANSWER)).isEqualTo(DONE);
    assertThat(exists(thing)).isFalse();
  }

  @Test
  void anExpiredRecordStopsAFirstStatementAndIsReplacedByTheNextClaim() {
    TransactionalStore store = storeWithLateClaims();
    ClaimRequest old = requestOf(user, SHORT_RETENTION);
    win(store, old).complete(ANSWER);
    letPass(SHORT_RETENTION);

    assertPreempted(store.claimLater(request));

    Claim claim = win(store, request);
    create(claim, thing);
    assertThat(claim.complete(answerWith(thing))).isEqualTo(DONE);
    assertRecorded(store, claim, answerWith(thing));
  }

  @Test
  void aHandlerThatCatchesEverythingIsStoppedToo() {
    TransactionalStore store = storeWithLateClaims();
    record(store);
    PendingClaim claim = store.claimLater(request);
    for (int tries = 0; tries < 3; tries++) {
      assertThatThrownBy(() -> create(claim, thing)).isInstanceOf(RuntimeException.class);
    }

    assertThat(claim.confirm()).isEmpty();

    assertThat(exists(thing)).isFalse();
  }

  @Test
  void aHandlerWithoutAStatementIsClaimedAtItsEnd() {
    TransactionalStore store = storeWithLateClaims();
    PendingClaim claim = store.claimLater(request);

    Claim won = claim.confirm().orElseThrow();

    assertInFlight(store);
    assertThat(won.complete(ANSWER)).isEqualTo(DONE);
    assertRecorded(store, won, ANSWER);
  }

  @Test
  void aHandlerWithoutAStatementIsNotConfirmedBehindARecord() {
    TransactionalStore store = storeWithLateClaims();
    Claim recorded = record(store);
    PendingClaim claim = store.claimLater(request);

    assertThat(claim.confirm()).isEmpty();

    assertRecorded(store, recorded, ANSWER);
  }

  @Test
  void aHandlerWithoutAStatementIsNotConfirmedBesideARunningCall() {
    TransactionalStore store = storeWithLateClaims();
    Claim running = win(store, request);

    assertThat(elsewhere(() -> store.claimLater(request).confirm())).isEmpty();

    assertThat(running.complete(ANSWER)).isEqualTo(DONE);
    assertRecorded(store, running, ANSWER);
  }

  @Test
  void beforeItsFirstStatementALateClaimDoesNotBlockOthers() {
    TransactionalStore store = storeWithLateClaims();
    PendingClaim claim = store.claimLater(request);
    elsewhere(() -> record(store));

    assertPreempted(claim);
  }

  @Test
  void anAnswerAfterAFirstStatementThatFailedIsNotRecorded() {
    TransactionalStore store = storeWithLateClaims();
    PendingClaim claim = failFirst(store);

    Claim won = claim.confirm().orElseThrow();

    assertThat(won.complete(ANSWER)).isEqualTo(ROLLED_BACK);
    win(store, request).release();
  }

  @Test
  void aTerminalErrorAfterAFirstStatementThatFailedIsRecorded() {
    TransactionalStore store = storeWithLateClaims();
    PendingClaim claim = failFirst(store);
    Claim won = claim.confirm().orElseThrow();

    assertThat(won.complete(FAILURE)).isEqualTo(DONE);

    assertRecorded(store, won, FAILURE);
  }

  @Test
  void aClaimWhoseFirstStatementFailedMayMeetARecordAtItsEnd() {
    TransactionalStore store = storeWithLateClaims();
    PendingClaim claim = failFirst(store);
    Claim recorded = elsewhere(() -> record(store));

    assertThat(claim.confirm()).isEmpty();

    assertRecorded(store, recorded, ANSWER);
  }

  @Test
  void anotherUsersRecordAndAnotherNamespacesStopNoFirstStatement() {
    TransactionalStore store = storeWithLateClaims();
    record(store);
    for (Caller other : List.of(Caller.of(UUID.randomUUID()), user.inTenant("there"))) {
      PendingClaim claim = store.claimLater(requestOf(other, request.retention()));
      ResourceId another = newId();

      create(claim, another);

      Claim won = claim.confirm().orElseThrow();
      assertThat(won.complete(answerWith(another))).isEqualTo(DONE);
      assertThat(exists(another)).isTrue();
    }
  }

  @Test
  void ofManyFirstStatementsAtOnceExactlyOneRuns() throws Exception {
    TransactionalStore store = storeWithLateClaims();
    CountDownLatch start = new CountDownLatch(1);
    CountDownLatch stopped = new CountDownLatch(RACERS - 1);
    List<ResourceId> things = new ArrayList<>();
    List<Future<Boolean>> racing = new ArrayList<>();
    for (int racer = 0; racer < RACERS; racer++) {
      ResourceId own = newId();
      things.add(own);
      racing.add(
          others.submit(
              () -> {
                start.await();
                return race(store, own, stopped);
              }));
    }
    start.countDown();
    List<Boolean> won = new ArrayList<>();
    for (Future<Boolean> racer : racing) {
      won.add(ended(racer));
    }

    assertThat(won).containsOnlyOnce(true);
    assertThat(things).filteredOn(this::exists).hasSize(1);
  }

  /** Creates a thing. The winner continues until all other calls have been stopped. */
  private boolean race(TransactionalStore store, ResourceId own, CountDownLatch stopped)
      throws InterruptedException {
    PendingClaim claim = store.claimLater(request);
    try {
      create(claim, own);
    } catch (RuntimeException refused) {
      assertThat(claim.isWon()).isFalse();
    }
    Optional<Claim> won = claim.confirm();
    if (won.isEmpty()) {
      stopped.countDown();
      return false;
    }
    assertThat(stopped.await(FOR_EVER.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return won.get().complete(answerWith(own)) == DONE;
  }

  private void create(Claim claim, ResourceId created) {
    create(transactionOf(claim), created);
  }

  private void create(PendingClaim claim, ResourceId created) {
    create(claim.transaction(), created);
  }

  private TransactionalStore storeWithLateClaims() {
    TransactionalStore store = newStore(LONG_LEASE);
    store.verify(List.of(CREATE_THING), Optional.empty());
    store.verifyTransactions();
    try {
      store.verifyLateClaims();
    } catch (SetupException none) {
      abort(String.join("; ", none.problems()));
    }
    return store;
  }

  private ClaimRequest requestOf(Caller caller, Duration retention) {
    return IdempotencyStoreContract.request(
        new IdempotencyKey(caller, "a key"),
        CREATE_THING,
        IdempotencyStoreContract.REQUEST,
        retention);
  }

  private ClaimRequest retry() {
    return new ClaimRequest(
        request.key(),
        request.procedure(),
        request.fingerprint(),
        request.retention(),
        Optional.empty(),
        true);
  }

  private static Claim win(TransactionalStore store, ClaimRequest request) {
    ClaimResult result = store.claimInTransaction(request);
    assertThat(result).isInstanceOf(ClaimResult.Won.class);
    return ((ClaimResult.Won) result).claim();
  }

  private Claim record(TransactionalStore store) {
    Claim claim = win(store, request);
    assertThat(claim.complete(ANSWER)).isEqualTo(DONE);
    return claim;
  }

  private static StoreTransaction transactionOf(Claim claim) {
    return claim.transaction().orElseThrow();
  }

  /** Returns a claim whose first statement failed for a reason that is not the claim. */
  private PendingClaim failFirst(TransactionalStore store) {
    Claim creator = win(store, requestOf(Caller.of(UUID.randomUUID()), request.retention()));
    create(creator, thing);
    assertThat(creator.complete(ANSWER)).isEqualTo(DONE);
    PendingClaim claim = store.claimLater(request);
    assertThatThrownBy(() -> create(claim, thing)).isInstanceOf(RuntimeException.class);
    assertThat(claim.isWon()).isFalse();
    return claim;
  }

  private void assertPreempted(PendingClaim claim) {
    assertThatThrownBy(() -> create(claim, thing)).isInstanceOf(RuntimeException.class);
    assertThat(claim.isWon()).isFalse();
    assertThat(claim.confirm()).isEmpty();
  }

  private void assertInFlight(TransactionalStore store) {
    assertThat(elsewhere(() -> store.claimInTransaction(request)))
        .isInstanceOf(ClaimResult.InFlight.class);
  }

  private void assertRecorded(TransactionalStore store, Claim claim, RecordedOutcome outcome) {
    assertIsRecorded(store.claimInTransaction(request), claim, outcome);
  }

  private static void assertIsRecorded(ClaimResult found, Claim claim, RecordedOutcome outcome) {
    assertThat(found).isInstanceOf(ClaimResult.Recorded.class);
    ClaimResult.Recorded recorded = (ClaimResult.Recorded) found;
    assertThat(recorded.outcome()).isEqualTo(outcome);
    assertThat(recorded.operationId()).isEqualTo(claim.operationId());
    if (!outcome.equals(FAILURE)) { // a failure is recorded later, in a separate transaction
      assertThat(recorded.expires()).isEqualTo(claim.expires());
    }
  }

  private void assertNothingRemains(TransactionalStore store) {
    assertThat(exists(thing)).isFalse();
    assertThat(store.find(request.key(), request.procedure())).isEmpty();
    win(store, request).release();
  }

  /** Runs the work of another call on a separate thread. */
  private <T> T elsewhere(Callable<T> work) {
    return ended(others.submit(work));
  }

  private static <T> T ended(Future<T> work) {
    try {
      return work.get(FOR_EVER.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException failure) {
      throw new AssertionError(failure);
    }
  }
}
