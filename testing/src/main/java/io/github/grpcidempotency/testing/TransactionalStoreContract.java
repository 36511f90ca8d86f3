package io.github.grpcidempotency.testing;

import static io.github.grpcidempotency.spi.Claim.Settled.DONE;
import static io.github.grpcidempotency.spi.Claim.Settled.PREEMPTED;
import static io.github.grpcidempotency.spi.Claim.Settled.ROLLED_BACK;
import static io.github.grpcidempotency.testing.IdempotencyStoreContract.ANSWER;
import static io.github.grpcidempotency.testing.IdempotencyStoreContract.CREATE_THING;
import static io.github.grpcidempotency.testing.IdempotencyStoreContract.LONG_LEASE;
import static io.github.grpcidempotency.testing.IdempotencyStoreContract.SHORT_RETENTION;
import static io.github.grpcidempotency.testing.IdempotencyStoreContract.answerWith;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.spi.TransactionalStore;
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
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The tests of the guarantees of every {@link TransactionalStore}, in addition to those of {@link
 * IdempotencyStoreContract}. Extend this class as well, and implement how a handler creates a thing
 * through a claim's transaction.
 *
 * <p>Each test uses its own users, keys and things. Concurrent calls run on separate threads, so
 * transactions may be bound to threads. A pool of ten connections is enough.
 */
public abstract class TransactionalStoreContract {
  private static final RecordedOutcome FAILURE =
      new RecordedOutcome.Failure(ByteString.copyFromUtf8("an error"));

  /** An action that takes longer than this hangs. */
  private static final Duration FOR_EVER = Duration.ofSeconds(30);

  /** All of them have a connection at the same time. */
  private static final int RACERS = 8;

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
  void aClaimThatIsClosedLeavesNothing() {
    TransactionalStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request);
    create(claim, thing);

    claim.close();
    claim.close();

    assertThat(exists(thing)).isFalse();
  }

  @Test
  void aClaimThatIsClosedAfterItsSettlementStaysSettled() {
    TransactionalStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request);
    create(claim, thing);
    claim.complete(answerWith(thing));

    claim.close();

    assertThat(exists(thing)).isTrue();
    assertRecorded(store, claim, answerWith(thing));
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

  // Claims at commit

  @Test
  void aClaimAtCommitIsOneCommitOfEffectAndRecord() {
    TransactionalStore store = storeWithClaimsAtCommit();
    Claim claim = store.claimAtCommit(request);
    create(claim, thing);
    assertThat(exists(thing)).isFalse();

    assertThat(claim.complete(answerWith(thing))).isEqualTo(DONE);

    assertThat(exists(thing)).isTrue();
    assertRecorded(store, claim, answerWith(thing));
  }

  @Test
  void aClaimAtCommitThatWritesNothingIsRecorded() {
    TransactionalStore store = storeWithClaimsAtCommit();
    Claim claim = store.claimAtCommit(request);

    assertThat(claim.complete(ANSWER)).isEqualTo(DONE);

    assertRecorded(store, claim, ANSWER);
  }

  @Test
  void aClaimAtCommitThatIsReleasedOrClosedLeavesNothing() {
    TransactionalStore store = storeWithClaimsAtCommit();
    Claim released = store.claimAtCommit(request);
    create(released, thing);
    assertThat(released.release()).isEqualTo(DONE);
    assertNothingRemains(store);

    Claim closed = store.claimAtCommit(request);
    create(closed, thing);
    closed.close();
    closed.close();
    assertThat(exists(thing)).isFalse();
    assertThat(store.find(request.key(), request.procedure())).isEmpty();
  }

  @Test
  void aClaimAtCommitThatIsClosedAfterItsSettlementStaysSettled() {
    TransactionalStore store = storeWithClaimsAtCommit();
    Claim claim = store.claimAtCommit(request);
    create(claim, thing);
    claim.complete(answerWith(thing));

    claim.close();

    assertThat(exists(thing)).isTrue();
    assertRecorded(store, claim, answerWith(thing));
  }

  @Test
  void aClaimAtCommitRecordsATerminalErrorWithoutTheEffect() {
    TransactionalStore store = storeWithClaimsAtCommit();
    Claim claim = store.claimAtCommit(request);
    create(claim, thing);

    assertThat(claim.complete(FAILURE)).isEqualTo(DONE);

    assertThat(exists(thing)).isFalse();
    assertRecorded(store, claim, FAILURE);
  }

  @Test
  void aClaimAtCommitThatIsSetToRollbackOnlyRecordsNothing() {
    TransactionalStore store = storeWithClaimsAtCommit();
    Claim claim = store.claimAtCommit(request);
    create(claim, thing);
    transactionOf(claim).setRollbackOnly();

    assertThat(claim.complete(ANSWER)).isEqualTo(ROLLED_BACK);

    assertNothingRemains(store);
  }

  /** Whatever its handler answers, the record counts, and nothing of the handler remains. */
  @Test
  void aClaimAtCommitBehindARecordIsPreempted() {
    TransactionalStore store = storeWithClaimsAtCommit();
    Claim recorded = record(store);
    for (End end : End.values()) {
      Claim claim = store.claimAtCommit(request);
      create(claim, thing);

      assertThat(end.of(claim)).as("%s", end).isEqualTo(PREEMPTED);
      assertThat(exists(thing)).isFalse();
    }
    assertRecorded(store, recorded, ANSWER);
  }

  @Test
  void aClaimAtCommitBesideARunningCallIsPreemptedAndDoesNotWaitForIt() {
    TransactionalStore store = storeWithClaimsAtCommit();
    Claim running = win(store, request);
    create(running, thing);

    for (End end : End.values()) {
      Claim.Settled settled =
          elsewhere(
              () -> {
                Claim claim = store.claimAtCommit(request);
                create(claim, newId());
                return end.of(claim);
              });

      assertThat(settled).as("%s", end).isEqualTo(PREEMPTED);
    }
    assertThat(running.complete(answerWith(thing))).isEqualTo(DONE);
    assertRecorded(store, running, answerWith(thing));
  }

  @Test
  void aClaimAtCommitBesideAReservationIsPreempted() {
    TransactionalStore store = storeWithClaimsAtCommit();
    ClaimResult.Won reserved = (ClaimResult.Won) store.claim(request);
    for (End end : End.values()) {
      Claim claim = store.claimAtCommit(request);
      create(claim, thing);

      assertThat(end.of(claim)).as("%s", end).isEqualTo(PREEMPTED);
    }
    assertThat(reserved.claim().complete(ANSWER)).isEqualTo(DONE);
    assertThat(exists(thing)).isFalse();
  }

  @Test
  void anExpiredRecordPreemptsAClaimAtCommitAndIsReplacedByTheNextClaim() {
    TransactionalStore store = storeWithClaimsAtCommit();
    win(store, requestOf(user, SHORT_RETENTION)).complete(ANSWER);
    letPass(SHORT_RETENTION);
    Claim late = store.claimAtCommit(request);
    create(late, thing);

    assertThat(late.complete(answerWith(thing))).isEqualTo(PREEMPTED);

    Claim claim = win(store, request);
    create(claim, thing);
    assertThat(claim.complete(answerWith(thing))).isEqualTo(DONE);
    assertRecorded(store, claim, answerWith(thing));
  }

  /** The twin has created the same thing, so the handler fails, and must not answer that. */
  @Test
  void aHandlerThatFailsBecauseItsTwinWasQuickerIsPreempted() {
    TransactionalStore store = storeWithClaimsAtCommit();
    Claim quick = createAndComplete(store.claimAtCommit(request));
    for (End end : End.values()) {
      Claim slow = store.claimAtCommit(request);
      assertThatThrownBy(() -> create(slow, thing)).isInstanceOf(RuntimeException.class);

      assertThat(end.of(slow)).as("%s", end).isEqualTo(PREEMPTED);
    }
    assertRecorded(store, quick, answerWith(thing));
  }

  @Test
  void aHandlerWhoseStatementFailsForItsOwnReasonsIsNotPreempted() {
    TransactionalStore store = storeWithClaimsAtCommit();
    Claim creator = win(store, requestOf(Caller.of(UUID.randomUUID()), request.retention()));
    create(creator, thing);
    assertThat(creator.complete(ANSWER)).isEqualTo(DONE);
    Claim failing = store.claimAtCommit(request);
    assertThatThrownBy(() -> create(failing, thing)).isInstanceOf(RuntimeException.class);
    assertThat(failing.complete(ANSWER)).isEqualTo(ROLLED_BACK);

    Claim answering = store.claimAtCommit(request);
    assertThatThrownBy(() -> create(answering, thing)).isInstanceOf(RuntimeException.class);
    assertThat(answering.release()).isEqualTo(DONE);
  }

  @Test
  void aClaimAtCommitBlocksNobodyBeforeItsEnd() {
    TransactionalStore store = storeWithClaimsAtCommit();
    Claim slow = store.claimAtCommit(request);
    create(slow, newId());

    Claim quick = elsewhere(() -> createAndComplete(win(store, request)));

    assertThat(slow.complete(ANSWER)).isEqualTo(PREEMPTED);
    assertRecorded(store, quick, answerWith(thing));
  }

  @Test
  void anotherUsersRecordAndAnotherTenantsPreemptNoClaimAtCommit() {
    TransactionalStore store = storeWithClaimsAtCommit();
    record(store);
    for (Caller other : List.of(Caller.of(UUID.randomUUID()), user.inTenant("there"))) {
      Claim claim = store.claimAtCommit(requestOf(other, request.retention()));
      ResourceId another = newId();
      create(claim, another);

      assertThat(claim.complete(answerWith(another))).isEqualTo(DONE);
      assertThat(exists(another)).isTrue();
    }
  }

  @Test
  void ofManyClaimsThatMeetAtTheCommitExactlyOneIsSettled() throws Exception {
    TransactionalStore store = storeWithClaimsAtCommit();
    CountDownLatch start = new CountDownLatch(1);
    List<ResourceId> things = new ArrayList<>();
    List<Future<Claim.Settled>> racing = new ArrayList<>();
    for (int racer = 0; racer < RACERS; racer++) {
      ResourceId own = newId();
      things.add(own);
      CountDownLatch begun = new CountDownLatch(1);
      racing.add(
          others.submit(
              () -> {
                Claim claim;
                try {
                  claim = store.claimAtCommit(request);
                  create(claim, own);
                } finally {
                  begun.countDown();
                }
                start.await();
                return claim.complete(answerWith(own));
              }));
      // One after another, because a pool may not open a connection for each of many that wait.
      assertThat(begun.await(FOR_EVER.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
    start.countDown();
    List<Claim.Settled> settled = new ArrayList<>();
    for (Future<Claim.Settled> racer : racing) {
      settled.add(ended(racer));
    }

    assertThat(settled).containsOnlyOnce(DONE).containsOnly(DONE, PREEMPTED);
    assertThat(things).filteredOn(this::exists).hasSize(1);
  }

  /** How the handler of a claim at commit ends. */
  private enum End {
    ANSWER(claim -> claim.complete(IdempotencyStoreContract.ANSWER)),
    TERMINAL_ERROR(claim -> claim.complete(FAILURE)),
    ERROR(Claim::release),
    UNKNOWN(Claim::markUnknown);

    @SuppressWarnings("ImmutableEnumChecker") // functions without state
    private final Function<Claim, Claim.Settled> settlement;

    End(Function<Claim, Claim.Settled> settlement) {
      this.settlement = settlement;
    }

    Claim.Settled of(Claim claim) {
      return settlement.apply(claim);
    }
  }

  private Claim createAndComplete(Claim claim) {
    create(claim, thing);
    assertThat(claim.complete(answerWith(thing))).isEqualTo(DONE);
    return claim;
  }

  private void create(Claim claim, ResourceId created) {
    create(transactionOf(claim), created);
  }

  private TransactionalStore storeWithClaimsAtCommit() {
    TransactionalStore store = newStore(LONG_LEASE);
    store.verify(List.of(CREATE_THING), Optional.empty());
    store.verifyTransactions();
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
    return request.tracedBy(Optional.empty()).markedAsRetry(true);
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
