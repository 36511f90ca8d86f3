package io.github.grpcidempotency.internal.decision;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.FailureRemedy;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailureDeciderTest {
  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          # cause,         nothing sent, answer lost,  row seen,    handler done
          NO_CONNECTION,   OPEN,         UNAVAILABLE,  IN_PROGRESS, UNAVAILABLE
          NO_LOGIN,        UNAVAILABLE,  UNAVAILABLE,  IN_PROGRESS, UNAVAILABLE
          NO_PRIMARY,      UNAVAILABLE,  UNAVAILABLE,  IN_PROGRESS, UNAVAILABLE
          POOL_EXHAUSTED,  UNAVAILABLE,  UNAVAILABLE,  IN_PROGRESS, UNAVAILABLE
          CONNECTION_LOST, UNAVAILABLE,  UNAVAILABLE,  IN_PROGRESS, UNAVAILABLE
          SHUTTING_DOWN,   UNAVAILABLE,  UNAVAILABLE,  IN_PROGRESS, UNAVAILABLE
          READ_ONLY,       UNAVAILABLE,  UNAVAILABLE,  IN_PROGRESS, UNAVAILABLE
          CONTENTION,      UNAVAILABLE,  UNAVAILABLE,  IN_PROGRESS, UNAVAILABLE
          TIMEOUT,         UNAVAILABLE,  UNAVAILABLE,  IN_PROGRESS, UNAVAILABLE
          BROKEN,          UNAVAILABLE,  UNAVAILABLE,  IN_PROGRESS, UNAVAILABLE
          OTHER,           UNAVAILABLE,  UNAVAILABLE,  IN_PROGRESS, UNAVAILABLE
          """)
  void aCallFailsOpenOnlyIfNoServerAcceptsConnectionsAndNothingWasSent(
      FailureCause cause,
      Verdict nothingSent,
      Verdict answerLost,
      Verdict rowSeen,
      Verdict handlerDone) {
    assertDecides(FailurePhase.NOTHING_SENT, cause, nothingSent);
    assertDecides(FailurePhase.ANSWER_LOST, cause, answerLost);
    assertDecides(FailurePhase.ROW_SEEN, cause, rowSeen);
    assertDecides(FailurePhase.HANDLER_DONE, cause, handlerDone);
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          # cause,         nothing sent, answer lost, row seen
          NO_CONNECTION,   GIVE_UP,      GIVE_UP,     GIVE_UP
          NO_LOGIN,        GIVE_UP,      GIVE_UP,     GIVE_UP
          NO_PRIMARY,      GIVE_UP,      GIVE_UP,     GIVE_UP
          POOL_EXHAUSTED,  GIVE_UP,      GIVE_UP,     GIVE_UP
          CONNECTION_LOST, SEND_AGAIN,   GIVE_UP,     GIVE_UP
          SHUTTING_DOWN,   SEND_AGAIN,   GIVE_UP,     GIVE_UP
          READ_ONLY,       FIND,         GIVE_UP,     GIVE_UP
          CONTENTION,      TRY_AGAIN,    TRY_AGAIN,   TRY_AGAIN
          TIMEOUT,         GIVE_UP,      GIVE_UP,     GIVE_UP
          BROKEN,          FIND,         GIVE_UP,     GIVE_UP
          OTHER,           GIVE_UP,      GIVE_UP,     GIVE_UP
          """)
  void aStoreRetriesAClaimThatWasNotDoneAndReadsTheRecordIfItCannotWrite(
      FailureCause cause,
      FailureRemedy nothingSent,
      FailureRemedy answerLost,
      FailureRemedy rowSeen) {
    assertThat(cause.remedy(FailurePhase.NOTHING_SENT)).isEqualTo(nothingSent);
    assertThat(cause.remedy(FailurePhase.ANSWER_LOST)).isEqualTo(answerLost);
    assertThat(cause.remedy(FailurePhase.ROW_SEEN)).isEqualTo(rowSeen);
  }

  @Test
  void aBrokenStoreDoesNotRecoverByItself() {
    Set<FailureCause> lasting = EnumSet.of(FailureCause.BROKEN, FailureCause.OTHER);

    for (FailureCause cause : FailureCause.values()) {
      assertThat(cause.isTemporary()).as(cause.word()).isEqualTo(!lasting.contains(cause));
    }
  }

  @Test
  void onlyALostConnectionAShutdownOrAnUnknownErrorLeavesTheOutcomeOpen() {
    Set<FailureCause> open =
        EnumSet.of(FailureCause.CONNECTION_LOST, FailureCause.SHUTTING_DOWN, FailureCause.OTHER);

    for (FailureCause cause : FailureCause.values()) {
      assertThat(cause.mayBeDone()).as(cause.word()).isEqualTo(open.contains(cause));
    }
  }

  private static void assertDecides(FailurePhase phase, FailureCause cause, Verdict verdict) {
    StoreException failure = StoreException.of(phase, cause, "out");
    Optional<Refusal> refused = Optional.of(Refusal.storeUnavailable(cause));
    Optional<Refusal> inProgress = Optional.of(Refusal.inProgress(Optional.empty()));

    assertThat(FailureDecider.decide(failure, FAIL_OPEN))
        .isEqualTo(
            switch (verdict) {
              case OPEN -> Optional.empty();
              case UNAVAILABLE -> refused;
              case IN_PROGRESS -> inProgress;
            });
    assertThat(FailureDecider.decide(failure, FAIL_CLOSED))
        .isEqualTo(verdict == Verdict.IN_PROGRESS ? inProgress : refused);
  }

  private static final OutagePolicy FAIL_OPEN = OutagePolicy.FAIL_OPEN;
  private static final OutagePolicy FAIL_CLOSED = OutagePolicy.FAIL_CLOSED;

  /** The decision for a call that fails open. */
  enum Verdict {
    OPEN,
    UNAVAILABLE,
    IN_PROGRESS
  }
}
