package io.github.grpcidempotency.background;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.LogLines;
import java.io.IOException;
import java.net.ConnectException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

class RateLimitedLogTest {
  private static final String NAME = "limited";
  private static final Logger LOGGER = LoggerFactory.getLogger(NAME);

  /** A logger that also writes what is for debugging. */
  private static final Logger CHATTY = chattyLogger();

  private final AtomicLong nanoTime = new AtomicLong();
  private final RateLimitedLog log = new RateLimitedLog(LOGGER, nanoTime::get);
  private final LogLines lines = LogLines.listen();

  @AfterEach
  void stopListening() {
    lines.close();
  }

  private static Logger chattyLogger() {
    System.setProperty("org.slf4j.simpleLogger.log." + NAME + ".chatty", "debug");
    return LoggerFactory.getLogger(NAME + ".chatty");
  }

  @Test
  void oneLinePerSubjectIsLoggedInAnInterval() {
    for (int second = 0; second < 10; second++) {
      log.warn("renewal", null, "could not renew");
      nanoTime.addAndGet(Duration.ofSeconds(1).toNanos());
    }

    assertThat(lines.all()).containsExactly("[main] WARN limited - could not renew");
  }

  @Test
  void anErrorOfTheLoggerDoesNotEndTheWorkThatLogs() {
    RateLimitedLog broken =
        new RateLimitedLog(
            LOGGER,
            () -> {
              throw new StackOverflowError("in an appender");
            });

    broken.warn("renewal", null, "could not renew");
    broken.error("renewal", null, "could not renew");
    broken.write(
        Level.WARN,
        "refuse",
        null,
        "refused",
        () -> {
          throw new NoClassDefFoundError("a converter");
        });

    assertThat(lines.all()).isEmpty();
  }

  @Test
  void pairsAreMadeOnlyForALineThatIsWritten() {
    AtomicLong made = new AtomicLong();
    for (int time = 0; time < 3; time++) {
      log.write(
          Level.WARN, "refuse", null, "refused", () -> Map.of("number", made.incrementAndGet()));
    }
    log.write(
        Level.DEBUG, "claim", null, "claimed", () -> Map.of("number", made.incrementAndGet()));

    assertThat(lines.all()).containsExactly("[main] WARN limited - number=1 refused");
    assertThat(made).hasValue(1);
  }

  @Test
  void aLineWithPairsThatIsLeftOutIsWrittenAtDebugLevel() {
    RateLimitedLog chatty = new RateLimitedLog(CHATTY, nanoTime::get);
    chatty.write(Level.WARN, "refuse", null, "first", () -> Map.of("number", 1));
    chatty.write(Level.WARN, "refuse", null, "second", () -> Map.of("number", 2));
    chatty.write(Level.DEBUG, "claim", null, "third", () -> Map.of("number", 3));
    nanoTime.addAndGet(Duration.ofSeconds(10).toNanos());
    chatty.write(Level.WARN, "refuse", null, "fourth", () -> Map.of("number", 4));

    assertThat(lines.all())
        .containsExactly(
            "[main] WARN limited.chatty - number=1 first",
            "[main] DEBUG limited.chatty - number=2 second",
            "[main] DEBUG limited.chatty - number=3 third",
            "[main] WARN limited.chatty - number=4 fourth (and 1 more like it)");
  }

  @Test
  void theNextLineCountsTheLinesThatWereLeftOut() {
    log.warn("renewal", null, "first");
    log.warn("renewal", null, "second");
    log.warn("renewal", null, "third");
    nanoTime.addAndGet(Duration.ofSeconds(10).toNanos());
    log.warn("renewal", null, "fourth");
    nanoTime.addAndGet(Duration.ofSeconds(10).toNanos());
    log.warn("renewal", null, "fifth");

    assertThat(said()).containsExactly("first", "fourth (and 2 more like it)", "fifth");
  }

  @Test
  void subjectsAndLevelsDoNotSilenceEachOther() {
    log.warn("renewal", null, "renewal");
    log.warn("sweep", null, "sweep");
    log.error("sweep", null, "broken sweep");

    assertThat(said()).containsExactly("renewal", "sweep", "broken sweep");
    assertThat(lines.all()).last().asString().contains("ERROR");
  }

  @Test
  void aLineContainsTheMessageOfItsRootCauseAndItsSqlState() {
    log.warn("a", new IllegalStateException("not a word", new IOException("disk full")), "no luck");
    log.warn(
        "b", new RuntimeException(new SQLException("gone\n  Detail: Key (k)", "08006")), "cut");
    log.warn("c", new SQLException("refused", "08001", new ConnectException("no route")), "away");
    log.warn("d", new StackOverflowError(), "too deep");

    assertThat(said())
        .containsExactly(
            "no luck: disk full",
            "cut: gone [SQLSTATE 08006]",
            "away: no route [SQLSTATE 08001]",
            "too deep: StackOverflowError");
  }

  @Test
  void aCauseThatIsItsOwnCauseIsLoggedToo() {
    Exception first = new Exception("first");
    Exception second = new Exception("second", first);
    first.initCause(second);

    log.warn("circle", first, "round");

    assertThat(said()).hasSize(1);
  }

  @Test
  void stackTracesAreWrittenAtDebugLevel() {
    RateLimitedLog chatty = new RateLimitedLog(CHATTY, nanoTime::get);
    Exception failure = new IOException("on purpose");

    log.warn("quiet", failure, "could not");
    log.error("quiet", failure, "could not");
    assertThat(lines.all()).hasSize(2);
    chatty.warn("chatty", failure, "could not");
    chatty.warn("chatty", failure, "could not");

    assertThat(lines.warnings()).hasSize(2);
    assertThat(lines.all()).filteredOn(line -> line.contains("DEBUG")).hasSize(2);
    assertThat(lines.all()).filteredOn(line -> line.startsWith("java.io.IOException")).hasSize(2);
  }

  @Test
  void anyNumberOfSubjectsTakesBoundedMemory() {
    for (int subject = 0; subject < 10_000; subject++) {
      log.warn("subject " + subject, null, "new");
    }
    log.warn("subject 9999", null, "remembered");
    log.warn("subject 0", null, "forgotten");

    assertThat(said()).hasSize(10_001).last().isEqualTo("forgotten");
  }

  @Test
  void ifManyThreadsLogAtOnceOneWritesAndTheOthersAreCounted() throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    for (int warning = 0; warning < 1_000; warning++) {
      threads.execute(() -> log.warn("renewal", null, "could not renew"));
    }
    threads.shutdown();
    assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    nanoTime.addAndGet(Duration.ofSeconds(10).toNanos());
    log.warn("renewal", null, "could not renew");

    assertThat(said()).containsExactly("could not renew", "could not renew (and 999 more like it)");
  }

  private List<String> said() {
    return lines.all().stream().map(line -> line.split(" - ", 2)[1]).toList();
  }
}
