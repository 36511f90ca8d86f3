package io.github.grpcidempotency.testing;

import static io.github.grpcidempotency.spi.Claim.Settled.DONE;
import static io.github.grpcidempotency.spi.Claim.Settled.LOST;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.hash.Hashing;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.CompletionWatch;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * The tests of the guarantees of every {@link IdempotencyStore}. Extend this class, and implement
 * the methods that create a store and let its time pass:
 *
 * <pre>{@code
 * class MyStoreTest extends IdempotencyStoreContract {
 *   @Override
 *   protected IdempotencyStore newStore(Duration lease) {
 *     return new MyStore(client, lease);
 *   }
 *
 *   @Override
 *   protected void letPass(Duration time) {
 *     clock.advance(time); // or wait, if the store's clock cannot be moved
 *   }
 * }
 * }</pre>
 *
 * <p>Each test uses its own users and keys, so the records of earlier tests need not be deleted.
 * Some tests run sixteen threads at once; a pool of ten connections is enough.
 */
public abstract class IdempotencyStoreContract {
  /** Longer than any test. */
  static final Duration LONG_LEASE = Duration.ofMinutes(5);

  /** A lease that ends soon. */
  static final Duration SHORT_LEASE = Duration.ofMillis(300);

  private static final Duration ONE_DAY = Duration.ofHours(24);

  static final Duration SHORT_RETENTION = Duration.ofMillis(150);

  private static final Duration TEN_SECONDS = Duration.ofSeconds(10);
  private static final Duration MORE_THAN_A_TENTH = Duration.ofMillis(1_100);

  private static final int RACERS = 16;

  static final RecordedProcedure CREATE_THING =
      RecordedProcedure.of(
          Procedure.named("things.Things/CreateThing")
              .resource(ResourceType.of("thing"), "id")
              .build());
  static final RecordedProcedure CREATE_OTHER =
      RecordedProcedure.of(Procedure.named("things.Things/CreateOther").build());

  static final Fingerprint REQUEST = fingerprint("first");
  private static final Fingerprint OTHER_REQUEST = fingerprint("other");

  static final RecordedOutcome ANSWER = answer("an answer");
  private static final RecordedOutcome OTHER_ANSWER = answer("another answer");

  final Caller user = Caller.of(UUID.randomUUID());
  private final String rawKey = UUID.randomUUID().toString();

  /**
   * Creates the store under test. Called once at the beginning of every test.
   *
   * @param lease how long claims of this store last unless they are renewed; {@link
   *     IdempotencyStore#lease} must return this value
   */
  protected abstract IdempotencyStore newStore(Duration lease);

  /**
   * Lets slightly more than this time pass for the store. When the method returns, a lease or a
   * retention of this length that began before the call has ended. Advance a clock, or wait: tests
   * use at most ten seconds, and mostly less than one.
   */
  protected abstract void letPass(Duration time);

  /**
   * Creates a resource of the type {@code thing} that a record of this user can refer to, and
   * returns its id. Override it if the store checks references, as a foreign key does, and register
   * the type; otherwise any id is sufficient.
   */
  protected ResourceId newThing(UUID userId) {
    return ResourceId.of("things/" + UUID.randomUUID());
  }

  @Test
  void everyProcedureOfTheContractIsAccepted() {
    newStore(LONG_LEASE).verify(List.of(CREATE_THING, CREATE_OTHER), Optional.empty());
  }

  // Claiming

  @Test
  void aFreeKeyIsWon() {
    IdempotencyStore store = newStore(LONG_LEASE);
    assertThat(store.lease()).isEqualTo(LONG_LEASE);
    ClaimRequest request = request();

    Claim claim = win(store, request);

    assertThat(claim.request()).isEqualTo(request);
  }

  @Test
  void aKeyInFlightIsNotWonAgainAndItsOwnerIsReturned() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());

    ClaimResult.InFlight inFlight = inFlight(store.claim(request()));

    assertThat(inFlight.fingerprint()).contains(REQUEST);
    assertThat(inFlight.procedure()).contains(CREATE_THING.name());
    assertThat(inFlight.operationId()).contains(claim.operationId());
    assertThat(inFlight.outcomeUnknown()).isFalse();
    assertThat(inFlight.leaseLeft().orElseThrow()).isPositive().isLessThanOrEqualTo(LONG_LEASE);
  }

  @Test
  void aReservationThatIsClosedStays() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());

    claim.close();

    assertThat(inFlight(store.claim(request())).operationId()).contains(claim.operationId());
    assertThat(claim.complete(ANSWER)).isEqualTo(DONE);
  }

  @Test
  void anotherRequestAndAnotherProcedureGetWhatIsInFlight() {
    IdempotencyStore store = newStore(LONG_LEASE);
    win(store, request());

    assertThat(inFlight(store.claim(request(OTHER_REQUEST))).fingerprint()).contains(REQUEST);
    assertThat(inFlight(store.claim(request(CREATE_OTHER))).procedure())
        .contains(CREATE_THING.name());
  }

  @Test
  void twoUsersMayHaveTheSameKey() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim first = win(store, request());

    Claim second = win(store, requestOf(Caller.of(UUID.randomUUID())));

    assertThat(second.operationId()).isNotEqualTo(first.operationId());
    assertThat(second.complete(OTHER_ANSWER)).isEqualTo(DONE);
    inFlight(store.claim(request()));
  }

  @Test
  void theSameKeyInAnotherTenantOrProjectIsAnotherOperation() {
    IdempotencyStore store = newStore(LONG_LEASE);
    win(store, request()).complete(ANSWER);
    win(store, requestOf(user.inTenant("here"))).complete(ANSWER);
    win(store, requestOf(user.inProject("here"))).complete(ANSWER);

    Claim there = win(store, requestOf(user.inTenant("there")));

    assertThat(there.complete(OTHER_ANSWER)).isEqualTo(DONE);
    assertThat(recorded(store.claim(requestOf(user.inTenant("here")))).outcome()).isEqualTo(ANSWER);
  }

  /** A store that joins the names to one text must not join different ones to the same. */
  @Test
  void namesAndKeysThatLookAlikeAreDifferentOperations() {
    IdempotencyStore store = newStore(LONG_LEASE);
    List<ClaimRequest> requests = new ArrayList<>();
    for (Caller caller :
        List.of(
            user,
            user.inTenant("a"),
            user.inTenant("a/b"),
            user.inTenant("a").inProject("b"),
            user.inProject("a"))) {
      for (String key : List.of("c", "a/b:c", "b:c", "/:c", ":c", "a:c", "a/:c")) {
        requests.add(request(new IdempotencyKey(caller, key), CREATE_THING, REQUEST, LONG_LEASE));
      }
    }

    requests.forEach(request -> win(store, request).complete(ANSWER));
    requests.forEach(
        request -> assertThat(recorded(store.claim(request)).outcome()).isEqualTo(ANSWER));
  }

  @Test
  void ofManyClaimsAtOnceExactlyOneWins() throws Exception {
    IdempotencyStore store = newStore(LONG_LEASE);

    List<ClaimResult> results = atOnce(() -> store.claim(request()));

    assertThat(results).filteredOn(ClaimResult.Won.class::isInstance).hasSize(1);
    assertThat(results).filteredOn(ClaimResult.InFlight.class::isInstance).hasSize(RACERS - 1);
  }

  // Completing

  @Test
  void aCompletedKeyReturnsItsOutcome() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());

    assertThat(claim.complete(ANSWER)).isEqualTo(DONE);

    ClaimResult.Recorded recorded = recorded(store.claim(request()));
    assertIsOf(recorded, REQUEST, CREATE_THING);
    assertThat(recorded.operationId()).isEqualTo(claim.operationId());
    assertThat(recorded.expires()).isEqualTo(claim.expires());
    assertThat(recorded.outcome()).isEqualTo(ANSWER);
  }

  @Test
  void anotherRequestAndAnotherProcedureGetWhatIsRecorded() {
    IdempotencyStore store = newStore(LONG_LEASE);
    win(store, request()).complete(ANSWER);

    assertIsOf(recorded(store.claim(request(OTHER_REQUEST))), REQUEST, CREATE_THING);
    assertIsOf(recorded(store.claim(request(CREATE_OTHER))), REQUEST, CREATE_THING);
  }

  @Test
  void everyKindOfAnswerIsReturnedUnchanged() {
    IdempotencyStore store = newStore(LONG_LEASE);
    byte[] bytes = new byte[100_000];
    new Random(1).nextBytes(bytes);
    for (RecordedOutcome outcome :
        List.of(
            new RecordedOutcome.Response(ByteString.copyFrom(bytes), Optional.empty()),
            new RecordedOutcome.Response(ByteString.EMPTY, Optional.empty()),
            answerWith(newThing(user.userId())),
            new RecordedOutcome.Failure(ByteString.copyFromUtf8("an error")))) {
      ClaimRequest request = another(user);
      win(store, request).complete(outcome);

      assertThat(recorded(store.claim(request)).outcome()).isEqualTo(outcome);
    }
  }

  /** If a record has a status, the interceptor does not call the resolver. */
  @Test
  void aRecordThatNamesNoResourceHasNoStatus() {
    IdempotencyStore store = newStore(LONG_LEASE);
    RecordedOutcome response = answer("an answer without a thing");

    win(store, request()).complete(response);

    assertThat(recorded(store.claim(request())).outcome()).isEqualTo(response);
    assertThat(recorded(store.claim(request())).status()).isEmpty();
  }

  @Test
  void completingAgainIsDoneAndChangesNothing() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());
    claim.complete(ANSWER);

    assertThat(claim.complete(OTHER_ANSWER)).isEqualTo(DONE);

    assertThat(recorded(store.claim(request())).outcome()).isEqualTo(ANSWER);
  }

  @Test
  void aCompletedOperationCannotBeReleasedOrMarkedUnknownOrRenewed() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());
    claim.complete(ANSWER);

    assertThat(claim.release()).isEqualTo(LOST);
    assertThat(claim.markUnknown()).isEqualTo(LOST);
    assertThat(store.renew(List.of(claim))).isEmpty();

    assertThat(recorded(store.claim(request())).outcome()).isEqualTo(ANSWER);
  }

  @Test
  void anOwnerWhoseLeaseEndedMayStillCompleteIfNobodyTookOver() {
    IdempotencyStore store = newStore(SHORT_LEASE);
    Claim claim = win(store, request());
    letPass(SHORT_LEASE);

    assertThat(claim.complete(ANSWER)).isEqualTo(DONE);

    assertThat(recorded(store.claim(request())).outcome()).isEqualTo(ANSWER);
  }

  // Finding

  @Test
  void findReturnsWhatAClaimWouldReturnAndClaimsNothing() {
    IdempotencyStore store = newStore(LONG_LEASE);
    assertThat(find(store, request())).isEmpty();
    Claim claim = win(store, request());

    ClaimResult.InFlight running = inFlight(find(store, request()).orElseThrow());
    assertThat(running.procedure()).contains(CREATE_THING.name());
    assertThat(running.isAbandoned()).isFalse();

    claim.complete(ANSWER);
    ClaimResult.Recorded recorded = recorded(find(store, request()).orElseThrow());
    assertThat(recorded.operationId()).isEqualTo(claim.operationId());
    assertThat(recorded.outcome()).isEqualTo(ANSWER);
    assertThat(find(store, requestOf(Caller.of(UUID.randomUUID())))).isEmpty();
    assertThat(find(store, requestOf(user.inTenant("there")))).isEmpty();
  }

  @Test
  void aReleasedKeyIsNotFound() {
    IdempotencyStore store = newStore(LONG_LEASE);
    win(store, request()).release();

    assertThat(find(store, request())).isEmpty();
  }

  @Test
  void anAbandonedCallIsFoundWithoutALease() {
    IdempotencyStore store = newStore(SHORT_LEASE);
    win(store, request());
    letPass(SHORT_LEASE);

    assertThat(inFlight(find(store, request()).orElseThrow()).isAbandoned()).isTrue();
  }

  @Test
  void anExpiredRecordIsNotFound() {
    IdempotencyStore store = newStore(LONG_LEASE);
    win(store, request(SHORT_RETENTION)).complete(ANSWER);
    letPass(SHORT_RETENTION);

    assertThat(find(store, request())).isEmpty();
  }

  private static Optional<ClaimResult> find(IdempotencyStore store, ClaimRequest request) {
    return store.find(request.key(), request.procedure());
  }

  // Releasing and holding

  @Test
  void aReleasedKeyIsFreeAtOnce() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());

    assertThat(claim.release()).isEqualTo(DONE);

    Claim next = win(store, request(OTHER_REQUEST));
    assertThat(next.operationId()).isNotEqualTo(claim.operationId());
  }

  @Test
  void aReleasedClaimOwnsNothingAndCannotChangeItsSuccessor() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim released = win(store, request());
    released.release();
    assertOwnsNothing(store, released);
    Claim successor = win(store, request());

    assertOwnsNothing(store, released);

    assertThat(successor.complete(ANSWER)).isEqualTo(DONE);
  }

  @Test
  void aHeldKeyIsUnknownUntilItsLeaseEnds() {
    Duration lease = Duration.ofSeconds(1);
    IdempotencyStore store = newStore(lease);
    Claim claim = win(store, request());

    assertThat(claim.markUnknown()).isEqualTo(DONE);

    assertThat(inFlight(store.claim(request())).outcomeUnknown()).isTrue();
    letPass(lease);
    win(store, request());
    assertThat(inFlight(store.claim(request())).outcomeUnknown()).isFalse();
  }

  // Waiting

  @Test
  void aCallThatHasEndedBeforeItIsWatchedIsReported() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());
    claim.complete(ANSWER);

    assertEndIsReported(store);
  }

  @Test
  void aCallWhoseOutcomeIsUnknownIsReported() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());
    claim.markUnknown();

    assertEndIsReported(store);
  }

  private void assertEndIsReported(IdempotencyStore store) {
    CompletableFuture<IdempotencyKey> ended = new CompletableFuture<>();
    try (CompletionWatch watch = store.watch(ended::complete)) {
      watch.add(request().key());

      assertThat(ended).succeedsWithin(TEN_SECONDS).isEqualTo(request().key());
    }
  }

  // Leases

  @Test
  void anEndedLeaseIsTakenOverByTheSameRequest() {
    IdempotencyStore store = newStore(SHORT_LEASE);
    Claim crashed = win(store, request());
    letPass(SHORT_LEASE);

    Claim successor = win(store, request());

    assertThat(successor.operationId()).isEqualTo(crashed.operationId());
    assertThat(successor.attempt()).isEqualTo(crashed.attempt() + 1);
    assertThat(successor.expires()).isEqualTo(crashed.expires());
    assertThat(successor.complete(ANSWER)).isEqualTo(DONE);
    assertThat(recorded(store.claim(request())).outcome()).isEqualTo(ANSWER);
  }

  @Test
  void anEndedLeaseIsNotTakenOverByAnotherRequest() {
    IdempotencyStore store = newStore(SHORT_LEASE);
    win(store, request());
    letPass(SHORT_LEASE);
    Fingerprint sameHash = new Fingerprint(REQUEST.version() + 1, REQUEST.hash());

    for (ClaimRequest other :
        List.of(request(OTHER_REQUEST), request(sameHash), request(CREATE_OTHER))) {
      ClaimResult.InFlight inFlight = inFlight(store.claim(other));
      assertThat(inFlight.fingerprint()).contains(REQUEST);
      assertThat(inFlight.procedure()).contains(CREATE_THING.name());
      assertThat(inFlight.leaseLeft().orElseThrow()).isZero();
    }
  }

  @Test
  void ofManyTakeoversExactlyOneSucceeds() throws Exception {
    // The crashed owner and the winner have the same lease, which must be longer than the race.
    Duration lease = Duration.ofSeconds(2);
    IdempotencyStore store = newStore(lease);
    win(store, request());
    letPass(lease);

    List<ClaimResult> results = atOnce(() -> store.claim(request()));

    assertThat(results).filteredOn(ClaimResult.Won.class::isInstance).hasSize(1);
    assertThat(results).filteredOn(ClaimResult.InFlight.class::isInstance).hasSize(RACERS - 1);
  }

  @Test
  void aStaleOwnerCannotChangeItsSuccessor() {
    IdempotencyStore store = newStore(SHORT_LEASE);
    Claim stale = win(store, request());
    letPass(SHORT_LEASE);
    Claim successor = win(store, request());

    assertOwnsNothing(store, stale);

    assertThat(successor.complete(ANSWER)).isEqualTo(DONE);
    assertOwnsNothing(store, stale);
    assertThat(recorded(store.claim(request())).outcome()).isEqualTo(ANSWER);
  }

  @Test
  void aRenewedLeaseStartsAnew() {
    Duration lease = Duration.ofSeconds(2);
    Duration half = lease.dividedBy(2);
    IdempotencyStore store = newStore(lease);
    Claim claim = win(store, request());
    letPass(half);

    assertThat(store.renew(List.of(claim))).containsExactly(claim.operationId());

    assertThat(inFlight(store.claim(request())).leaseLeft().orElseThrow()).isGreaterThan(half);
  }

  @Test
  void leasesOfSeveralUsersAreRenewedTogether() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim mine = win(store, request());
    Claim theirs = win(store, requestOf(Caller.of(UUID.randomUUID())));
    Claim gone = win(store, requestOf(Caller.of(UUID.randomUUID())));
    gone.release();

    assertThat(store.renew(List.of(mine, theirs, gone)))
        .containsExactlyInAnyOrder(mine.operationId(), theirs.operationId());
  }

  @Test
  void anEmptyRenewalSucceeds() {
    assertThat(newStore(LONG_LEASE).renew(List.of())).isEmpty();
  }

  // Expiry

  @Test
  void anExpiredRecordCountsAsAbsent() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim old = win(store, request(SHORT_RETENTION));
    old.complete(ANSWER);
    letPass(SHORT_RETENTION);

    Claim fresh = win(store, request(CREATE_OTHER));

    assertThat(fresh.operationId()).isNotEqualTo(old.operationId());
    assertOwnsNothing(store, old);
    assertThat(fresh.complete(OTHER_ANSWER)).isEqualTo(DONE);
  }

  @Test
  void ofManyClaimsOfAnExpiredRecordExactlyOneWins() throws Exception {
    IdempotencyStore store = newStore(LONG_LEASE);
    win(store, request(SHORT_RETENTION)).complete(ANSWER);
    letPass(SHORT_RETENTION);

    List<ClaimResult> results = atOnce(() -> store.claim(request()));

    assertThat(results).filteredOn(ClaimResult.Won.class::isInstance).hasSize(1);
    assertThat(results).filteredOn(ClaimResult.InFlight.class::isInstance).hasSize(RACERS - 1);
  }

  @Test
  void aCallThatRunsLongerThanItsRetentionKeepsItsKey() {
    IdempotencyStore store = newStore(LONG_LEASE);
    win(store, request(SHORT_RETENTION));
    letPass(SHORT_RETENTION);

    inFlight(store.claim(request(SHORT_RETENTION)));
  }

  @Test
  void aReplayDoesNotChangeTheExpiry() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request(TEN_SECONDS));
    claim.complete(ANSWER);
    letPass(MORE_THAN_A_TENTH);

    assertThat(recorded(store.claim(request())).expires()).isEqualTo(claim.expires());
  }

  @Test
  void aReplayRestartsTheRetentionIfTheProcedureRequiresIt() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request(TEN_SECONDS));
    Instant first = claim.expires();
    claim.complete(ANSWER);
    assertThat(store.retain(request(TEN_SECONDS), recorded(store.claim(request(TEN_SECONDS)))))
        .as("a second replay soon after writes nothing")
        .isEqualTo(first);
    letPass(MORE_THAN_A_TENTH);

    ClaimRequest replay = request(TEN_SECONDS);
    assertThat(recorded(store.claim(replay)).expires())
        .as("a claim without a replay extends nothing")
        .isEqualTo(first);
    Instant renewed = store.retain(replay, recorded(store.claim(replay)));

    assertThat(renewed).isAfterOrEqualTo(first.plus(MORE_THAN_A_TENTH));
    assertThat(recorded(store.claim(request(CREATE_THING))).expires()).isEqualTo(renewed);
  }

  @Test
  void anotherRetentionAppliesToNewKeys() {
    IdempotencyStore store = newStore(LONG_LEASE);
    Duration oneHour = Duration.ofHours(1);
    Claim old = win(store, request(oneHour));
    Duration sevenDays = Duration.ofDays(7);
    IdempotencyKey another = new IdempotencyKey(user, UUID.randomUUID().toString());
    Claim fresh = win(store, request(another, CREATE_THING, REQUEST, sevenDays));
    old.complete(ANSWER);
    fresh.complete(ANSWER);

    assertThat(Duration.between(old.expires(), fresh.expires())).isGreaterThan(Duration.ofDays(6));
    assertThat(recorded(store.claim(request(sevenDays))).expires()).isEqualTo(old.expires());
    assertThat(recorded(store.claim(fresh.request())).expires()).isEqualTo(fresh.expires());
  }

  // Traces

  @Test
  void aRecordHasTheTraceOfTheRunThatMadeItsAnswer() {
    IdempotencyStore store = newStore(LONG_LEASE);
    win(store, traced("first")).complete(ANSWER);

    assertThat(recorded(store.claim(traced("second"))).trace()).isEqualTo(trace("first"));
    assertThat(recorded(store.claim(request())).trace()).isEqualTo(trace("first"));
    assertThat(recorded(find(store, request()).orElseThrow()).trace()).isEqualTo(trace("first"));
  }

  @Test
  void afterATakeoverARecordHasTheTraceOfTheNewOwner() {
    IdempotencyStore store = newStore(SHORT_LEASE);
    win(store, traced("crashed"));
    letPass(SHORT_LEASE);

    win(store, traced("taker")).complete(ANSWER);

    assertThat(recorded(store.claim(request())).trace()).isEqualTo(trace("taker"));
  }

  @Test
  void aTakeoverWithoutATraceRemovesTheTrace() {
    IdempotencyStore store = newStore(SHORT_LEASE);
    win(store, traced("crashed"));
    letPass(SHORT_LEASE);

    win(store, request()).complete(ANSWER);

    assertThat(recorded(store.claim(traced("later"))).trace()).isEmpty();
  }

  @Test
  void aCallWithoutATraceIsRecordedWithoutOne() {
    IdempotencyStore store = newStore(LONG_LEASE);
    win(store, request()).complete(ANSWER);

    assertThat(recorded(store.claim(traced("later"))).trace()).isEmpty();
  }

  @Test
  void theTraceOfAnExpiredRecordGoesWithIt() {
    IdempotencyStore store = newStore(LONG_LEASE);
    win(store, withTrace(request(SHORT_RETENTION), trace("old"))).complete(ANSWER);
    letPass(SHORT_RETENTION);

    win(store, traced("new")).complete(ANSWER);

    assertThat(recorded(store.claim(request())).trace()).isEqualTo(trace("new"));
  }

  @Test
  void aTraceKeepsEveryByteAndMayBeEmpty() {
    IdempotencyStore store = newStore(LONG_LEASE);
    byte[] bytes = new byte[ClaimRequest.MAX_TRACE];
    new Random(2).nextBytes(bytes);
    for (ByteString trace : List.of(ByteString.copyFrom(bytes), ByteString.EMPTY)) {
      ClaimRequest request = withTrace(requestOf(Caller.of(UUID.randomUUID())), Optional.of(trace));
      win(store, request).complete(ANSWER);

      assertThat(recorded(store.claim(request)).trace()).contains(trace);
    }
  }

  ClaimRequest traced(String trace) {
    return withTrace(request(), trace(trace));
  }

  static Optional<ByteString> trace(String text) {
    return Optional.of(ByteString.copyFromUtf8(text));
  }

  private static ClaimRequest withTrace(ClaimRequest request, Optional<ByteString> trace) {
    return request.tracedBy(trace);
  }

  ClaimRequest request() {
    return request(CREATE_THING);
  }

  ClaimRequest request(RecordedProcedure procedure) {
    return request(new IdempotencyKey(user, rawKey), procedure, REQUEST, ONE_DAY);
  }

  private ClaimRequest request(Fingerprint fingerprint) {
    return request(new IdempotencyKey(user, rawKey), CREATE_THING, fingerprint, ONE_DAY);
  }

  ClaimRequest request(Duration retention) {
    return request(new IdempotencyKey(user, rawKey), CREATE_THING, REQUEST, retention);
  }

  ClaimRequest requestOf(Caller caller) {
    return request(new IdempotencyKey(caller, rawKey), CREATE_THING, REQUEST, ONE_DAY);
  }

  /** Returns a request with another key. */
  static ClaimRequest another(Caller caller) {
    return request(
        new IdempotencyKey(caller, UUID.randomUUID().toString()), CREATE_THING, REQUEST, ONE_DAY);
  }

  static ClaimRequest request(
      IdempotencyKey key,
      RecordedProcedure procedure,
      Fingerprint fingerprint,
      Duration retention) {
    return ClaimRequest.of(key, procedure, fingerprint).retainedFor(retention);
  }

  private static Fingerprint fingerprint(String text) {
    return new Fingerprint(
        1,
        ByteString.copyFrom(Hashing.sha256().hashString(text, StandardCharsets.UTF_8).asBytes()));
  }

  private static RecordedOutcome answer(String text) {
    return new RecordedOutcome.Response(ByteString.copyFromUtf8(text), Optional.empty());
  }

  static RecordedOutcome answerWith(ResourceId thing) {
    return new RecordedOutcome.Response(ByteString.copyFromUtf8("a thing"), Optional.of(thing));
  }

  static Claim win(IdempotencyStore store, ClaimRequest request) {
    ClaimResult result = store.claim(request);
    assertThat(result).isInstanceOf(ClaimResult.Won.class);
    return ((ClaimResult.Won) result).claim();
  }

  private static ClaimResult.InFlight inFlight(ClaimResult result) {
    assertThat(result).isInstanceOf(ClaimResult.InFlight.class);
    return (ClaimResult.InFlight) result;
  }

  private static void assertIsOf(
      ClaimResult.Recorded recorded, Fingerprint request, RecordedProcedure procedure) {
    assertThat(recorded.fingerprint()).isEqualTo(request);
    assertThat(recorded.procedure()).isEqualTo(procedure.name());
  }

  private static ClaimResult.Recorded recorded(ClaimResult result) {
    assertThat(result).isInstanceOf(ClaimResult.Recorded.class);
    return (ClaimResult.Recorded) result;
  }

  private static void assertOwnsNothing(IdempotencyStore store, Claim claim) {
    assertThat(store.renew(List.of(claim))).as("renewed").isEmpty();
    assertThat(claim.markUnknown()).as("held").isEqualTo(LOST);
    assertThat(claim.complete(OTHER_ANSWER)).as("completed").isEqualTo(LOST);
    assertThat(claim.release()).as("released").isEqualTo(LOST);
  }

  private static <T> List<T> atOnce(Callable<T> work) throws Exception {
    CyclicBarrier start = new CyclicBarrier(RACERS);
    ExecutorService racers = Executors.newFixedThreadPool(RACERS);
    try {
      List<Future<T>> running = new ArrayList<>();
      for (int racer = 0; racer < RACERS; racer++) {
        running.add(
            racers.submit(
                () -> {
                  start.await();
                  return work.call();
                }));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> result : running) {
        results.add(result.get());
      }
      return results;
    } finally {
      racers.shutdownNow();
    }
  }
}
