package io.github.grpcidempotency.background;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.test.LogLines;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class RepeatedTaskTest {
  private static final Duration OFTEN = Duration.ofMillis(1);

  private final ScheduledExecutorService timer = DaemonThreads.newIdleTimer("test-timer");
  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger("repeated"));
  private final LogLines lines = LogLines.listen();

  @AfterEach
  void stop() {
    timer.shutdownNow();
    lines.close();
  }

  @Test
  void aTaskRunsAgainWhateverItThrows() {
    List<Throwable> thrown =
        List.of(new NoSuchMethodError("gone"), new InterruptedException(), new Exception("late"));
    AtomicInteger runs = new AtomicInteger();

    RepeatedTask.of("do it", log, () -> throwOne(thrown, runs.getAndIncrement()))
        .every(timer, Duration.ZERO, OFTEN);

    await().until(() -> runs.get() > thrown.size());
    assertThat(lines.all())
        .anyMatch(line -> line.contains("ERROR") && line.contains("could not do it; trying again"))
        .anyMatch(line -> line.contains("WARN") && line.contains("could not do it; trying again"));
  }

  @Test
  void anErrorOfATaskThatRunsOnceIsLogged() {
    ScheduledFuture<?> unused =
        timer.schedule(
            () -> {
              throw new NoSuchMethodError("gone");
            },
            0,
            TimeUnit.MILLISECONDS);
    Thread other = DaemonThreads.named("test-thread").newThread(() -> fail("on purpose"));
    other.start();

    await()
        .untilAsserted(
            () ->
                assertThat(lines.all())
                    .anyMatch(line -> line.contains("thread test-timer failed: gone"))
                    .anyMatch(line -> line.contains("thread test-thread failed: on purpose")));
  }

  @Test
  void aTaskThatItsTimerInterruptsAtTheEndIsNotLogged() {
    AtomicInteger runs = new AtomicInteger();
    RepeatedTask.of(
            "wait",
            log,
            () -> {
              runs.incrementAndGet();
              timer.shutdown();
              throw new InterruptedException();
            })
        .every(timer, Duration.ZERO, OFTEN);

    await().until(timer::isTerminated);

    assertThat(runs).hasValue(1);
    assertThat(lines.all()).noneMatch(line -> line.contains("could not wait"));
  }

  @Test
  void aRepetitionSurvivesWhateverIsThrownAndStopsWhenItIsNotNeeded() {
    AtomicInteger runs = new AtomicInteger();
    AtomicInteger checks = new AtomicInteger();
    RepeatedWhile repetition =
        new RepeatedWhile(
            timer,
            OFTEN,
            RepeatedTask.of(
                "repeat",
                log,
                () -> {
                  runs.incrementAndGet();
                  throw new NoSuchMethodError("gone");
                }),
            () -> {
              if (checks.incrementAndGet() == 1) {
                throw new NoSuchMethodError("gone too");
              }
              return runs.get() < 3;
            });

    repetition.start();
    await().until(() -> runs.get() == 3);

    await().during(Duration.ofMillis(100)).until(() -> runs.get() == 3);
    repetition.start();
    await().until(() -> runs.get() > 3);
  }

  private static void throwOne(List<Throwable> thrown, int run) throws Exception {
    if (run < thrown.size()) {
      if (thrown.get(run) instanceof Error error) {
        throw error;
      }
      throw (Exception) thrown.get(run);
    }
  }

  private static void fail(String why) {
    throw new AssertionError(why);
  }
}
