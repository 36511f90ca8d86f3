package io.github.grpcidempotency.cli;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Shows the progress of long work on a terminal. Prints nothing in a script. */
final class Progress {
  private static final Duration INTERVAL = Duration.ofSeconds(1);

  private final CountDownLatch done = new CountDownLatch(1);
  private final Optional<Thread> teller;

  private Progress(Surroundings surroundings, String what) {
    teller = surroundings.terminal().map(terminal -> new Thread(() -> tell(surroundings, what)));
    teller.ifPresent(
        thread -> {
          thread.setDaemon(true);
          thread.start();
        });
  }

  /** Does the work, and prints the elapsed time. */
  static <T> T tellDuring(Surroundings surroundings, String what, Supplier<T> work) {
    Progress progress = new Progress(surroundings, what);
    try {
      return work.get();
    } finally {
      progress.end();
    }
  }

  private void tell(Surroundings surroundings, String what) {
    long began = System.nanoTime();
    try {
      while (!done.await(INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
        surroundings
            .err()
            .print(
                "\r%s ... %s "
                    .formatted(
                        what, DurationText.text(Duration.ofNanos(System.nanoTime() - began))));
        surroundings.err().flush();
      }
      surroundings.err().print("\r" + " ".repeat(what.length() + 16) + "\r");
      surroundings.err().flush();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void end() {
    done.countDown();
    teller.ifPresent(
        thread -> {
          try {
            thread.join();
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
          }
        });
  }
}
