package io.github.grpcidempotency.example.demo;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Asks again and again, until the answer is good enough. */
final class Waiting {
  private static final Duration LONGEST = Duration.ofSeconds(15);
  private static final Duration PAUSE = Duration.ofMillis(50);

  private Waiting() {}

  /** Returns the first answer that is good enough, or the last one that came in time. */
  static <T> T until(Predicate<T> enough, Supplier<T> question) {
    long start = System.nanoTime();
    T answer = question.get();
    while (!enough.test(answer) && System.nanoTime() - start < LONGEST.toNanos()) {
      LockSupport.parkNanos(PAUSE.toNanos());
      answer = question.get();
    }
    return answer;
  }
}
