package io.github.grpcidempotency.decision;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClaimDeciderTest {
  private static final String PROCEDURE =
      ThingServiceGrpc.getCreateThingMethod().getFullMethodName();
  private static final Fingerprint REQUEST = new Fingerprint(1, ByteString.copyFromUtf8("a hash"));
  private static final Duration LEASE_LEFT = Duration.ofSeconds(20);

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          FAIL_OPEN,   EXECUTE
          FAIL_CLOSED, EXECUTE
          """)
  void aFreeKeyIsExecuted(OutagePolicy policy, Verdict verdict) {
    assertThat(decide(new KeyState.Free(), policy)).isEqualTo(verdict.decision());
  }

  @Test
  void aFailureOfTheStoreMeansWhatItsTableSays() {
    for (FailurePhase phase : FailurePhase.values()) {
      for (FailureCause cause : FailureCause.values()) {
        for (OutagePolicy policy : OutagePolicy.values()) {
          assertThat(decide(new KeyState.Unanswered(phase, cause), policy))
              .isEqualTo(FailureDecider.decide(phase, cause, policy));
        }
      }
    }
  }

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
    KeyState recorded =
        new KeyState.Recorded(
            request.fingerprint().orElseThrow(), procedure.procedure().orElseThrow());

    for (OutagePolicy policy : OutagePolicy.values()) {
      assertThat(decide(recorded, policy)).isEqualTo(verdict.decision());
    }
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
    KeyState inFlight =
        new KeyState.InFlight(
            request.fingerprint(), procedure.procedure(), LEASE_LEFT, outcomeUnknown);

    for (OutagePolicy policy : OutagePolicy.values()) {
      assertThat(decide(inFlight, policy)).isEqualTo(verdict.decision());
    }
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
            .inFlight(InFlightPolicy.attach(Duration.ofSeconds(limit)))
            .build();

    assertThat(
            ClaimDecider.decide(
                running(false), procedure, ClaimDeciderTest::compare, Duration.ofSeconds(timeLeft)))
        .isEqualTo(
            waits == 0
                ? new Decision.Refuse(Refusal.inProgress(LEASE_LEFT))
                : new Decision.Attach(Duration.ofSeconds(waits)));
    assertThat(
            ClaimDecider.decide(
                running(true), procedure, ClaimDeciderTest::compare, Duration.ofSeconds(timeLeft)))
        .isEqualTo(new Decision.Refuse(Refusal.outcomeUnknown(LEASE_LEFT)));
  }

  private static KeyState running(boolean outcomeUnknown) {
    return new KeyState.InFlight(
        Optional.of(REQUEST), Optional.of(PROCEDURE), LEASE_LEFT, outcomeUnknown);
  }

  private static Decision decide(KeyState standing, OutagePolicy policy) {
    Procedure procedure =
        Procedure.of(ThingServiceGrpc.getCreateThingMethod()).outage(policy).build();
    return ClaimDecider.decide(
        standing, procedure, ClaimDeciderTest::compare, Duration.ofMinutes(1));
  }

  private static Fingerprint.Match compare(Fingerprint recorded) {
    if (recorded.version() != REQUEST.version()) {
      return Fingerprint.Match.INCOMPARABLE;
    }
    return recorded.matches(REQUEST) ? Fingerprint.Match.SAME : Fingerprint.Match.OTHER;
  }

  @Test
  void aRecordOfANewerServerIsLeftToANewerServer() {
    KeyState newer =
        new KeyState.Recorded(new Fingerprint(REQUEST.version() + 1, REQUEST.hash()), PROCEDURE);

    assertThat(decide(newer, OutagePolicy.FAIL_OPEN))
        .isEqualTo(new Decision.Refuse(Refusal.inProgress(Duration.ofSeconds(1))));
  }

  /** What a store shows of the call that stands under the key. */
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

  /** Every decision that there is. */
  enum Verdict {
    EXECUTE,
    REPLAY,
    REUSED_PROCEDURE,
    REUSED_REQUEST,
    IN_PROGRESS,
    OUTCOME_UNKNOWN;

    Decision decision() {
      return switch (this) {
        case EXECUTE -> new Decision.Execute();
        case REPLAY -> new Decision.Replay();
        case REUSED_PROCEDURE -> new Decision.Refuse(Refusal.reused("procedure"));
        case REUSED_REQUEST -> new Decision.Refuse(Refusal.reused("request"));
        case IN_PROGRESS -> new Decision.Refuse(Refusal.inProgress(LEASE_LEFT));
        case OUTCOME_UNKNOWN -> new Decision.Refuse(Refusal.outcomeUnknown(LEASE_LEFT));
      };
    }
  }
}
