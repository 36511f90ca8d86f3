package io.github.grpcidempotency.internal.decision;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClaimDeciderTest {
  private static final UUID OPERATION = new UUID(1, 2);
  private static final String PROCEDURE =
      ThingServiceGrpc.getCreateThingMethod().getFullMethodName();
  private static final Fingerprint REQUEST = new Fingerprint(1, ByteString.copyFromUtf8("a hash"));
  private static final Duration LEASE_LEFT = Duration.ofSeconds(20);

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          # procedure, request, verdict
          SAME,        SAME,    REPLAY
          SAME,        OTHER,   REUSED_REQUEST
          OTHER,       SAME,    REUSED_PROCEDURE
          OTHER,       OTHER,   REUSED_PROCEDURE
          """)
  void aRecordIsReplayedToItsOwnCallOnly(Seen procedure, Seen request, Verdict verdict) {
    ClaimResult.Recorded recorded =
        recorded(request.fingerprint().orElseThrow(), procedure.procedure().orElseThrow());

    assertThat(decide(recorded))
        .isEqualTo(verdict == Verdict.REPLAY ? new Decision.Replay(recorded) : verdict.decision());
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          # procedure, request, outcome unknown, verdict
          SAME,        SAME,    false,           IN_PROGRESS
          SAME,        OTHER,   false,           REUSED_REQUEST
          SAME,        HIDDEN,  false,           IN_PROGRESS
          OTHER,       SAME,    false,           REUSED_PROCEDURE
          OTHER,       OTHER,   false,           REUSED_PROCEDURE
          OTHER,       HIDDEN,  false,           REUSED_PROCEDURE
          HIDDEN,      SAME,    false,           IN_PROGRESS
          HIDDEN,      OTHER,   false,           REUSED_REQUEST
          HIDDEN,      HIDDEN,  false,           IN_PROGRESS
          SAME,        SAME,    true,            OUTCOME_UNKNOWN
          SAME,        OTHER,   true,            REUSED_REQUEST
          SAME,        HIDDEN,  true,            OUTCOME_UNKNOWN
          OTHER,       SAME,    true,            REUSED_PROCEDURE
          OTHER,       OTHER,   true,            REUSED_PROCEDURE
          OTHER,       HIDDEN,  true,            REUSED_PROCEDURE
          HIDDEN,      SAME,    true,            OUTCOME_UNKNOWN
          HIDDEN,      OTHER,   true,            REUSED_REQUEST
          HIDDEN,      HIDDEN,  true,            OUTCOME_UNKNOWN
          """)
  void aCallInFlightIsNeverRunTwice(
      Seen procedure, Seen request, boolean outcomeUnknown, Verdict verdict) {
    ClaimResult inFlight =
        new ClaimResult.InFlight(
            request.fingerprint(),
            procedure.procedure(),
            Optional.of(OPERATION),
            Optional.of(LEASE_LEFT),
            outcomeUnknown);

    assertThat(decide(inFlight)).isEqualTo(verdict.decision());
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          # limit, time left, waits
          0,       60,        0
          5,       60,        5
          5,       3,         3
          5,       0,         0
          5,       -1,        0
          """)
  void aDuplicateWaitsForTheLimitOrTheDeadlineWhicheverIsSooner(
      int limit, int timeLeft, int waits) {
    Procedure procedure =
        Procedure.of(ThingServiceGrpc.getCreateThingMethod())
            .attach(Duration.ofSeconds(limit))
            .build();

    assertThat(
            ClaimDecider.decide(
                running(false),
                procedure,
                ClaimDeciderTest::compare,
                Optional.of(Duration.ofSeconds(timeLeft))))
        .isEqualTo(
            waits == 0
                ? new Decision.Refuse(Refusal.inProgress(LEASE_LEFT).naming(Optional.of(OPERATION)))
                : new Decision.Attach(running(false), Duration.ofSeconds(waits)));
    assertThat(
            ClaimDecider.decide(
                running(true),
                procedure,
                ClaimDeciderTest::compare,
                Optional.of(Duration.ofSeconds(timeLeft))))
        .isEqualTo(
            new Decision.Refuse(
                Refusal.outcomeUnknown(Optional.of(LEASE_LEFT)).naming(Optional.of(OPERATION))));
  }

  private static ClaimResult.InFlight running(boolean outcomeUnknown) {
    return new ClaimResult.InFlight(
        Optional.of(REQUEST),
        Optional.of(PROCEDURE),
        Optional.of(OPERATION),
        Optional.of(LEASE_LEFT),
        outcomeUnknown);
  }

  private static ClaimResult.Recorded recorded(Fingerprint request, String procedure) {
    return ClaimResult.Recorded.of(
        new UUID(0, 1),
        procedure,
        request,
        new RecordedOutcome.Failure(ByteString.EMPTY),
        Instant.EPOCH);
  }

  private static Decision decide(ClaimResult met) {
    Procedure procedure = Procedure.of(ThingServiceGrpc.getCreateThingMethod()).build();
    return ClaimDecider.decide(
        met, procedure, ClaimDeciderTest::compare, Optional.of(Duration.ofMinutes(1)));
  }

  private static RequestMatch compare(Fingerprint recorded) {
    if (recorded.version() != REQUEST.version()) {
      return RequestMatch.INCOMPARABLE;
    }
    return recorded.matches(REQUEST) ? RequestMatch.SAME : RequestMatch.OTHER;
  }

  @Test
  void aRecordOfANewerServerIsAnsweredByANewerServer() {
    ClaimResult newer = recorded(new Fingerprint(REQUEST.version() + 1, REQUEST.hash()), PROCEDURE);

    assertThat(decide(newer))
        .isEqualTo(new Decision.Refuse(Refusal.inProgress(Duration.ofSeconds(1))));
  }

  /** What a store returns for the call that holds the key. */
  enum Seen {
    SAME,
    OTHER,
    HIDDEN;

    Optional<String> procedure() {
      return switch (this) {
        case SAME -> Optional.of(PROCEDURE);
        case OTHER -> Optional.of("things.Things/Delete");
        case HIDDEN -> Optional.empty();
      };
    }

    Optional<Fingerprint> fingerprint() {
      return switch (this) {
        case SAME -> Optional.of(REQUEST);
        case OTHER -> Optional.of(new Fingerprint(1, ByteString.copyFromUtf8("a different one")));
        case HIDDEN -> Optional.empty();
      };
    }
  }

  /** A decision about a key that has an owner or a record. */
  enum Verdict {
    REPLAY,
    REUSED_PROCEDURE,
    REUSED_REQUEST,
    IN_PROGRESS,
    OUTCOME_UNKNOWN;

    Decision decision() {
      return switch (this) {
        case REPLAY -> throw new AssertionError("of which record?");
        case REUSED_PROCEDURE -> new Decision.Refuse(Refusal.reused("procedure"));
        case REUSED_REQUEST -> new Decision.Refuse(Refusal.reused("request"));
        case IN_PROGRESS ->
            new Decision.Refuse(Refusal.inProgress(LEASE_LEFT).naming(Optional.of(OPERATION)));
        case OUTCOME_UNKNOWN ->
            new Decision.Refuse(
                Refusal.outcomeUnknown(Optional.of(LEASE_LEFT)).naming(Optional.of(OPERATION)));
      };
    }
  }
}
