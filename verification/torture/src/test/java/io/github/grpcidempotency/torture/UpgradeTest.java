package io.github.grpcidempotency.torture;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.torture.RollingUpgrade.Crossings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What {@code docs/operations/maintenance.md} promises: servers of two versions work on one
 * database. By default, the previous version is this one, and the new version has a made-up
 * migration. With {@code -Dtorture.previous=v1.0.0}, the previous version is that revision, and the
 * new version is this one.
 */
@Tag("torture")
class UpgradeTest {
  private static final Optional<String> REVISION =
      Optional.ofNullable(System.getProperty("torture.previous"));

  private static LibraryVersion previous;
  private static LibraryVersion next;
  private static TorturePostgres postgres;

  @BeforeAll
  static void start() {
    previous = REVISION.map(LibraryVersion::of).orElseGet(LibraryVersion::current);
    next =
        REVISION.isPresent()
            ? LibraryVersion.current()
            : LibraryVersion.next(Path.of("target", "torture", "next"));
    postgres = TorturePostgres.start();
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  @Test
  @SuppressWarnings("SystemOut") // whoever waits for a long run reads it
  void nothingIsBrokenWhileVersionsChange() throws InterruptedException {
    long seed = Long.getLong("torture.seed", 1);
    Duration length = Duration.ofMinutes(Long.getLong("torture.minutes", 10));
    TortureDatabase database = new TortureDatabase(postgres, previous::migrate);
    RollingUpgrade upgrade = new RollingUpgrade(database, previous, next);
    String name = "upgrade-" + seed;
    Plan plan =
        Plan.everything(length)
            .calling(24)
            .serving(ServerKind.PLAIN, ServerKind.PLAIN)
            .mixing(Plan.ORDINARY);
    try (Torture torture = new Torture(plan, seed, database, upgrade, TortureReport.log(name))) {
      History history = torture.run();
      TortureReport report = TortureReport.report(history, name, name);
      Crossings crossings = upgrade.crossings(history);
      System.out.printf(
          "%s%s, %d violations%n", report.exercise(), crossings, report.violations().size());
      report.violations().stream().limit(20).forEach(System.out::println);
      assertThat(report.violations()).isEmpty();
      assertThat(report.exercise().shortcomings(plan)).as("a vacuous run").isEmpty();
      assertThat(upgrade.isDone()).isTrue();
      assertThat(crossings.forwards()).as("answers of before, replayed after").isPositive();
      assertThat(crossings.backwards()).as("answers of after, replayed before").isPositive();
    }
  }

  @Test
  void aNewServerRefusesTheOldSchemaAndNamesWhatIsMissing() {
    TortureDatabase database = new TortureDatabase(postgres, previous::migrate);
    ServerJvm server =
        ServerJvm.start(
            "server",
            new ServerJvm.Recipe(
                ServerKind.PLAIN,
                database.appUrl(),
                database.appUrl(),
                Duration.ofSeconds(2),
                Optional.empty(),
                TortureReport.log("old-schema")),
            ServerClasses.of("next-server", next.classPath()),
            ServerLife.ordinary(),
            Duration.ZERO,
            List.of());
    try {
      assertThat(server.awaitGreeting(Duration.ofMinutes(1)).orElseThrow().refused())
          .contains("migrate");
    } finally {
      server.kill();
    }
  }
}
