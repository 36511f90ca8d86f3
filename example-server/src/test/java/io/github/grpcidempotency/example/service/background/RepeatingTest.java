package io.github.grpcidempotency.example.service.background;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RepeatingTest {
  @Test
  void itContinuesAfterEveryThrowable() {
    AtomicInteger rounds = new AtomicInteger();
    Repeating repeating =
        Repeating.start(
            "test",
            Duration.ofMillis(1),
            () -> {
              switch (rounds.getAndIncrement()) {
                case 0 -> throw new IllegalStateException("an exception");
                case 1 -> throw new StackOverflowError("an error");
                default -> {}
              }
            });
    try {
      await().until(() -> rounds.get() > 10);
    } finally {
      repeating.close();
    }
  }
}
