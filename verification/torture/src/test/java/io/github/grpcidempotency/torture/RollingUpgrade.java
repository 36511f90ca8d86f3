package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Two servers of the previous version get the new schema, then the new version, one after the
 * other, and then the previous version again; all while they work and other faults happen.
 */
final class RollingUpgrade {
  /** The stages' beginnings, in percent of the run's length. */
  private static final List<Stage> STAGES =
      List.of(
          new Stage(12, new Migrate()),
          new Stage(24, new Replace(1, Version.NEW, true)),
          new Stage(36, new Replace(0, Version.NEW, false)),
          new Stage(52, new Replace(0, Version.PREVIOUS, true)),
          new Stage(64, new Replace(1, Version.PREVIOUS, false)),
          new Stage(76, new Replace(1, Version.NEW, true)),
          new Stage(88, new Replace(0, Version.NEW, true)));

  enum Version {
    PREVIOUS,
    NEW
  }

  private sealed interface Action {}

  private record Migrate() implements Action {}

  private record Replace(int server, Version version, boolean kills) implements Action {}

  private record Stage(int percent, Action action) {}

  /** From when on a server has a version. */
  private record Replaced(int server, Version version, long from) {}

  /**
   * What the versions had to do with each other's records.
   *
   * @param forwards answers of the previous version that the new one replayed
   * @param backwards answers of the new version that the previous one replayed
   */
  record Crossings(long forwards, long backwards) {}

  private final TortureDatabase database;
  private final LibraryVersion next;
  private final Map<Version, ServerClasses> classes;
  private final Queue<Replaced> replaced = new ConcurrentLinkedQueue<>();

  RollingUpgrade(TortureDatabase database, LibraryVersion previous, LibraryVersion next) {
    this.database = database;
    this.next = next;
    this.classes =
        Map.of(
            Version.PREVIOUS, ServerClasses.of("previous-server", previous.classPath()),
            Version.NEW, ServerClasses.of("next-server", next.classPath()));
  }

  ServerClasses previous() {
    return classesOf(Version.PREVIOUS);
  }

  /** Begins, in a thread that ends when all is done. */
  Thread start(Duration length, List<ServerNode> servers, FaultInjector faults) {
    Thread thread = new Thread(() -> run(length, servers, faults), "upgrade");
    thread.start();
    return thread;
  }

  /** Whether every stage was reached. */
  boolean isDone() {
    return replaced.size() == STAGES.size() - 1;
  }

  /**
   * Counts whose answers were replayed by whom; a call in the middle of a change counts for
   * neither.
   */
  Crossings crossings(History history) {
    Map<UUID, CommittedEffect> effects =
        history.effects().stream()
            .collect(Collectors.toMap(CommittedEffect::value, Function.identity(), (a, b) -> a));
    long forwards = 0;
    long backwards = 0;
    for (Call call : history.calls()) {
      Optional<CommittedEffect> effect =
          call.answer()
              .filter(answer -> call.replayed())
              .map(answer -> effects.get(answer.value()));
      if (effect.isPresent()) {
        Version made =
            versionOf(
                Integer.parseInt(effect.get().server().replaceAll("\\D", "")), effect.get().at());
        Version replays = versionOf(call.server(), call.start());
        if (replays == versionOf(call.server(), call.end())) {
          forwards += made == Version.PREVIOUS && replays == Version.NEW ? 1 : 0;
          backwards += made == Version.NEW && replays == Version.PREVIOUS ? 1 : 0;
        }
      }
    }
    return new Crossings(forwards, backwards);
  }

  private void run(Duration length, List<ServerNode> servers, FaultInjector faults) {
    long start = System.nanoTime();
    try {
      for (Stage stage : STAGES) {
        long at = start + length.toNanos() * stage.percent() / 100;
        TimeUnit.NANOSECONDS.sleep(at - System.nanoTime());
        act(stage.action(), servers, faults);
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  @SuppressWarnings("SystemOut") // whoever waits for a long run reads it
  private void act(Action action, List<ServerNode> servers, FaultInjector faults) {
    if (action instanceof Replace replace) {
      faults.replace(servers.get(replace.server()), classesOf(replace.version()), replace.kills());
      replaced.add(new Replaced(replace.server(), replace.version(), System.currentTimeMillis()));
      System.out.printf(
          "server %d is now of the %s version%n", replace.server(), replace.version());
    } else {
      System.out.printf("migrated at attempt %d%n", database.migrateUnderLoad(next::migrate));
    }
  }

  private ServerClasses classesOf(Version version) {
    return Optional.ofNullable(classes.get(version)).orElseThrow();
  }

  private Version versionOf(int server, long at) {
    Version version = Version.PREVIOUS;
    for (Replaced change : replaced) {
      if (change.server() == server && change.from() <= at) {
        version = change.version();
      }
    }
    return version;
  }
}
