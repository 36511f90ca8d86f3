package io.github.grpcidempotency.torture;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.torture.ModelCheck.Result;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Checks every state that the protocol can reach within a bound, and expects its rules to hold in
 * all of them. Then it removes what makes them hold, and expects them to fail. See {@code
 * docs/explanations/model.md}.
 */
class ModelTest {
  private static final String THREE = "{c1, c2, c3}";
  private static final String ALL_ENDINGS = "{\"release\", \"hold\", \"terminal\"}";

  @Test
  void theReservationKeepsItsRules() {
    assertHolds(ModelCheck.of("Reservation").with("MaxLate", "0").run("reservation"));
  }

  @Test
  void theTransactionKeepsItsRules() {
    assertHolds(ModelCheck.of("Transaction").run("transaction"));
  }

  @ParameterizedTest
  @EnumSource(names = {"IGNORED_FENCE", "NO_UNIQUE_KEY"})
  void aRuleThatIsTakenOutIsMissed(ModelFault fault) {
    assertMissed(fault, fault.violated().get(fault.violated().size() - 1));
  }

  @Test
  @Tag("torture")
  void theReservationKeepsItsRulesInAllStepsOfTwoCalls() {
    assertHolds(
        ModelCheck.of("Reservation")
            .with("Endings", ALL_ENDINGS)
            .with("Expiry", "TRUE")
            .runLong("reservation, everything"));
  }

  @Test
  @Tag("torture")
  void theReservationKeepsItsRulesAmongThreeCalls() {
    assertHolds(
        ModelCheck.of("Reservation")
            .with("Calls", THREE)
            .with("MaxLate", "0")
            .runLong("reservation, three calls"));
  }

  @Test
  @Tag("torture")
  void theReservationKeepsItsRulesAmongThreeCallsWithStatementsThatAreLate() {
    assertHolds(
        ModelCheck.of("Reservation")
            .with("Calls", THREE)
            .with("Forms", "{\"separate\"}")
            .with("Crashes", "FALSE")
            .runLong("reservation, three calls, late"));
  }

  @Test
  @Tag("torture")
  void aReservedKeyBecomesFree() {
    assertHolds(
        ModelCheck.of("Reservation")
            .with("MaxLate", "0")
            .only("KeyBecomesFree")
            .runLong("reservation, in time"));
  }

  @Test
  @Tag("torture")
  void theTransactionKeepsItsRulesAmongThreeCalls() {
    assertHolds(
        ModelCheck.of("Transaction")
            .with("Calls", THREE)
            .with("AtCommit", "{}")
            .runLong("transaction, three calls"));
  }

  @Test
  @Tag("torture")
  void theTransactionKeepsItsRulesAmongThreeCallsTwoOfWhichClaimAtCommit() {
    assertHolds(
        ModelCheck.of("Transaction")
            .with("AtCommit", "{l1, l2}")
            .runLong("transaction, three calls, two of them at commit"));
  }

  @Test
  @Tag("torture")
  void aTransactionalKeyBecomesFree() {
    assertHolds(
        ModelCheck.of("Transaction").only("KeyBecomesFree").runLong("transaction, in time"));
  }

  @Test
  @Tag("torture")
  void theIndexAloneKeepsEffectsSingle() {
    ModelCheck withoutLock =
        ModelCheck.of("Transaction")
            .without(
                "the lock excludes",
                "the look comes after the lock",
                "a record claims its key behind the lock");
    for (String rule : new String[] {"JoinedEffectAtMostOnce", "OneSettlement"}) {
      assertHolds(withoutLock.only(rule).run("transaction, without a lock, " + rule));
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("torture")
  void everyRuleThatIsTakenOutIsMissed(ModelFault fault) {
    fault.violated().forEach(rule -> assertMissed(fault, rule));
  }

  private static void assertHolds(Result result) {
    assertThat(result.violated()).isEmpty();
    assertThat(result.states()).as("a vacuous model").isGreaterThan(5_000);
  }

  private static void assertMissed(ModelFault fault, String rule) {
    assertThat(fault.check().only(rule).run(fault + " " + rule).violated()).contains(rule);
  }
}
