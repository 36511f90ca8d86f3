package io.github.grpcidempotency.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The library has one kind of repeated work, {@code RepeatedTask}, and one source of threads,
 * {@code DaemonThreads}. Neither ends silently, whatever is thrown. Every other way is rejected.
 */
class BackgroundWorkTest {
  /** The code that is published. Services and samples are code of users. */
  private static final List<String> PUBLISHED =
      List.of(
          "proto",
          "interceptor",
          "store-postgres",
          "client",
          "testing",
          "extensions",
          "operations");

  /** Classes for tests, whose own test reports what fails. */
  private static final Pattern CONTRACTS = Pattern.compile("testing/.*StoreContract\\.java");

  private static final Pattern OWN_CLASSES =
      Pattern.compile("proto/.*/(RepeatedTask|DaemonThreads)\\.java");

  private static final Map<String, Pattern> REJECTED =
      Map.of(
          "a repetition that an exception ends: use RepeatedTask",
          Pattern.compile(
              "scheduleWithFixedDelay|scheduleAtFixedRate|\\bTimerTask\\b|new Timer\\("),
          "a thread that does not report what ends it: use DaemonThreads",
          Pattern.compile(
              "(?<!addShutdownHook\\()new Thread\\(|ThreadBuilder|startVirtualThread"
                  + "|(?<!More)Executors\\s*\\.\\s*new(?![^;]*?DaemonThreads\\s*\\.\\s*named)"
                  + "|new (Scheduled)?ThreadPoolExecutor\\((?![^;]*?DaemonThreads\\s*\\.\\s*named)"),
          "the JVM's common pool, which an application may keep busy: use DaemonThreads",
          Pattern.compile(
              "commonPool|delayedExecutor|orTimeout\\(|completeOnTimeout\\(|[pP]arallelStream"
                  + "|(supply|run|apply|accept|handle|complete|compose)Async\\([^;,]*\\)"));

  @Test
  void allBackgroundWorkIsRepeatedTasksOnDaemonThreads() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : RepositoryRoot.files(RepositoryRoot.PATH, ".java")) {
      String name = RepositoryRoot.PATH.relativize(file).toString();
      if (isPublished(name)) {
        String source = Text.read(file);
        REJECTED.forEach(
            (why, pattern) ->
                pattern
                    .matcher(source)
                    .results()
                    .forEach(match -> found.add(name + ": " + match.group() + ": " + why)));
      }
    }

    assertThat(found).isEmpty();
  }

  @Test
  void theRuleRejectsEveryOtherWay() {
    for (String other :
        List.of(
            "timer.scheduleWithFixedDelay(this::look, 1, 1, SECONDS)",
            "new Thread(this::poll).start()",
            "Executors.newFixedThreadPool(2);",
            "new ThreadPoolExecutor(1, 1, 1, SECONDS, queue);",
            "CompletableFuture.supplyAsync(work)",
            "CompletableFuture.delayedExecutor(1, SECONDS)",
            "ForkJoinPool.commonPool()")) {
      assertThat(REJECTED.values()).as(other).anyMatch(pattern -> pattern.matcher(other).find());
    }
    for (String allowed :
        List.of(
            "Executors.newFixedThreadPool(2, DaemonThreads.named(\"probe\"));",
            "getRuntime().addShutdownHook(new Thread(server::drop, \"drop\"));",
            "CompletableFuture.supplyAsync(work, THREADS)")) {
      assertThat(REJECTED.values())
          .as(allowed)
          .noneMatch(pattern -> pattern.matcher(allowed).find());
    }
  }

  private static boolean isPublished(String name) {
    return PUBLISHED.stream().anyMatch(folder -> name.startsWith(folder + "/"))
        && name.contains("/src/main/")
        && !CONTRACTS.matcher(name).matches()
        && !OWN_CLASSES.matcher(name).matches();
  }
}
