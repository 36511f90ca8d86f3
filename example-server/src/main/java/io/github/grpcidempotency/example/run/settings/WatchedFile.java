package io.github.grpcidempotency.example.run.settings;

import io.github.grpcidempotency.example.run.database.StartupFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The current content of a file. Each use checks whether the file has changed, which costs no more
 * than reading its date, and then reads it again. An invalid change is logged, and the content
 * before it stays in force. Thread-safe.
 */
final class WatchedFile<T> implements Supplier<T> {
  private static final Logger log = LoggerFactory.getLogger(WatchedFile.class);

  private final Path file;
  private final Function<Path, T> reader;
  private volatile Content<T> content;

  private record Content<T>(Optional<Stamp> stamp, T value) {}

  private record Stamp(FileTime modified, long size, String identity) {}

  /**
   * Reads a file for the first time.
   *
   * @param reader parses the file, or throws a {@link StartupFailure}; it also decides what a
   *     missing file means
   */
  WatchedFile(Path file, Function<Path, T> reader) {
    this.file = file;
    this.reader = reader;
    Optional<Stamp> stamp = stamp();
    this.content = new Content<>(stamp, reader.apply(file));
  }

  @Override
  public T get() {
    Optional<Stamp> now = stamp();
    return now.equals(content.stamp()) ? content.value() : readAgain(now);
  }

  private synchronized T readAgain(Optional<Stamp> now) {
    if (!now.equals(content.stamp())) {
      content = new Content<>(now, changedValue());
    }
    return content.value();
  }

  private T changedValue() {
    try {
      return reader.apply(file);
    } catch (StartupFailure e) {
      log.warn("A change is ignored: {}", e.getMessage());
      return content.value();
    }
  }

  private Optional<Stamp> stamp() {
    try {
      BasicFileAttributes seen = Files.readAttributes(file, BasicFileAttributes.class);
      return Optional.of(
          new Stamp(seen.lastModifiedTime(), seen.size(), String.valueOf(seen.fileKey())));
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
