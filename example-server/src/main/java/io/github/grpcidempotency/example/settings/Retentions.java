package io.github.grpcidempotency.example.settings;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * How long records answer retries, where an operator says otherwise than the procedures do. Asked
 * for every key, so an answer may change at any time. Thread-safe.
 */
@FunctionalInterface
public interface Retentions {
  /**
   * Returns how long the records of a method last; empty for what its procedure says.
   *
   * @param method its bare name, such as {@code CreateProject}
   */
  Optional<Duration> of(String method);

  /** Returns what changes nothing. */
  static Retentions asDescribed() {
    return method -> Optional.empty();
  }

  /** Returns the same retention for all. */
  static Retentions forAll(Duration retention) {
    return method -> Optional.of(retention);
  }

  /**
   * Returns what a file says, now and whenever it is changed: lines such as {@code CreateProject =
   * 48h}. A missing file says nothing.
   *
   * @param methods those that the file may speak of
   * @throws io.github.grpcidempotency.example.database.StartupFailure if it cannot be understood;
   *     the message lists all that is wrong with it
   */
  static Retentions in(Path file, Set<String> methods) {
    WatchedFile<RetentionFile> watched =
        new WatchedFile<>(file, path -> RetentionFile.read(path, methods));
    return method -> watched.get().of(method);
  }
}
