package io.github.grpcidempotency.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Servers that share an interceptor, and shut down at the same time. */
class DrainTest {
  private final Drain drain = new Drain();
  private final List<String> refused = new ArrayList<>();

  @Test
  void theEndOfADrainDoesNotEndAnotherDrain() {
    drain.begin();
    drain.begin();
    drain.end();

    drain.add(call());

    assertThat(refused).containsExactly("stopped waiting");
  }

  @Test
  void aNewDrainDoesNotServeCallsThatAnotherDrainRefuses() {
    drain.begin();
    drain.cutOff();
    drain.begin();

    drain.add(call());

    assertThat(refused).containsExactly("cut off");
  }

  @Test
  void aServerThatIsStartedAfterAllDrainsServesAgain() {
    drain.begin();
    drain.begin();
    drain.cutOff();
    drain.end();
    drain.end();

    drain.add(call());

    assertThat(refused).isEmpty();
  }

  @Test
  void aCallThatCannotBeRefusedDoesNotKeepTheOthers() {
    for (int calls = 0; calls < 3; calls++) {
      drain.add(call());
      drain.add(
          () -> {
            throw new NoClassDefFoundError("on purpose");
          });
    }

    drain.begin();
    drain.cutOff();

    assertThat(refused)
        .containsExactly(
            "stopped waiting",
            "stopped waiting",
            "stopped waiting",
            "cut off",
            "cut off",
            "cut off");
  }

  private Drain.Call call() {
    return new Drain.Call() {
      @Override
      public void stopWaiting() {
        refused.add("stopped waiting");
      }

      @Override
      public void cutOff() {
        refused.add("cut off");
      }
    };
  }
}
