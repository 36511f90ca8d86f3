package io.github.grpcidempotency.internal.waiting;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.verifier.EpsilonVerifier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The waiter and the lease keeper, with their real locks and without their threads. Lincheck makes
 * up what several threads do to them, and tries it many times; each model says what must hold in
 * the end.
 */
class InterleavingsTest {
  @ParameterizedTest
  @ValueSource(classes = {WaitQueuesModel.class, WaitingModel.class, RenewalModel.class})
  void inEveryModelledInterleavingNoWaiterIsLostOrResumedTwice(Class<?> model) {
    stress(model, 15, 100);
  }

  @ParameterizedTest
  @ValueSource(classes = {WaitQueuesModel.class, WaitingModel.class, RenewalModel.class})
  @Tag("torture")
  void underStressNoWaiterIsLostOrResumedTwice(Class<?> model) {
    stress(model, 200, 5_000);
  }

  @Test
  @Tag("torture")
  void inAllOrdersOfStepsThatASearchTriesNoWaiterIsLost() {
    new ModelCheckingOptions()
        // Counted by the clock: on a busy machine the default ends before the classes are loaded.
        .invocationTimeout$lincheck(600_000)
        .iterations(200)
        .invocationsPerIteration(300)
        .threads(3)
        .actorsPerThread(1)
        .actorsBefore(0)
        .actorsAfter(0)
        .verifier(EpsilonVerifier.class)
        .check(WaitQueuesModel.class);
  }

  private static void stress(Class<?> model, int iterations, int invocations) {
    new StressOptions()
        // As above.
        .invocationTimeout$lincheck(600_000)
        .iterations(iterations)
        .invocationsPerIteration(invocations)
        .threads(3)
        .actorsPerThread(3)
        .actorsBefore(1)
        .actorsAfter(0)
        // The models say themselves what must hold.
        .verifier(EpsilonVerifier.class)
        .check(model);
  }
}
