package io.github.grpcidempotency.example.settings;

import io.github.grpcidempotency.example.database.StartupFailure;
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

/** One reading of a file of retentions, a properties file. */
record RetentionFile(Map<String, Duration> byMethod) {

  /**
   * Reads a file; one that does not exist is empty.
   *
   * @throws StartupFailure listing all that is wrong with it
   */
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
        byMethod.put(method, Durations.positive(lines.getProperty(method)));
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

  Optional<Duration> of(String method) {
    return Optional.ofNullable(byMethod.get(method));
  }
}
