package io.github.grpcidempotency.example.run.settings;

import io.github.grpcidempotency.example.run.database.StartupFailure;
import io.github.grpcidempotency.example.service.organization.Retentions;
import io.github.grpcidempotency.procedure.RetentionClass;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

/**
 * One reading of a file of retentions: lines such as {@code CreateProject = 48h}, or with one of
 * {@link Retentions#CLASSES}.
 */
public record RetentionFile(Map<String, Duration> byMethod) implements Retentions {

  /**
   * Returns the retentions of a file, now and after every change. A missing file counts as empty.
   *
   * @param methods the methods that the file may contain
   * @throws StartupFailure listing everything that is wrong with it
   */
  public static Retentions follow(Path file, Set<String> methods) {
    WatchedFile<RetentionFile> watched = new WatchedFile<>(file, path -> read(path, methods));
    return method -> watched.get().of(method);
  }

  static RetentionFile read(Path file, Set<String> methods) {
    Properties lines = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      lines.load(reader);
    } catch (NoSuchFileException e) {
      return new RetentionFile(Map.of());
    } catch (IOException | IllegalArgumentException e) {
      throw StartupFailure.because("The retentions in " + file + " cannot be read", e);
    }
    return parse(file, lines, methods);
  }

  private static RetentionFile parse(Path file, Properties lines, Set<String> methods) {
    Map<String, Duration> byMethod = new HashMap<>();
    List<String> problems = new ArrayList<>();
    for (String method : new TreeSet<>(lines.stringPropertyNames())) {
      if (!methods.contains(method)) {
        problems.add("%s is no method that keeps records".formatted(method));
      }
      try {
        byMethod.put(method, retention(lines.getProperty(method)));
      } catch (IllegalArgumentException e) {
        problems.add("%s: %s".formatted(method, e.getMessage()));
      }
    }
    if (!problems.isEmpty()) {
      throw new StartupFailure(
          "The retentions in %s cannot be used: %s.".formatted(file, String.join("; ", problems)));
    }
    return new RetentionFile(byMethod);
  }

  private static Duration retention(String value) {
    try {
      return Retentions.CLASSES
          .find(value)
          .map(RetentionClass::duration)
          .orElseGet(() -> Durations.positive(value));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "%s, nor one of %s".formatted(e.getMessage(), Retentions.CLASSES.names()), e);
    }
  }

  @Override
  public Optional<Duration> of(String method) {
    return Optional.ofNullable(byMethod.get(method));
  }
}
