package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.run.settings.DataFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

final class ChangeTheRetention implements Step {
  @Override
  public String title() {
    return "How long retries are answered is changed while the server runs";
  }

  @Override
  public void play(Stage stage, Story story) {
    Path file = new DataFiles(stage.database().directory()).retentionFile();
    Optional<String> kept = setAside(file);
    try {
      play(stage, story, file);
    } finally {
      putBack(file, kept);
    }
  }

  private static void play(Stage stage, Story story, Path file) {
    story.sent("CreateProject \"cassini\"");
    story.expect("it is answered again for 24 hours", isAbout(24, create(stage, story)));

    story.sent("the operator writes \"CreateProject = 48h\" into retention.properties");
    write(file, "CreateProject = 48h\n");
    story.sent("CreateProject \"cassini\", under another key");
    story.expect("that one is, for 48 hours", isAbout(48, create(stage, story)));
  }

  private static Duration create(Stage stage, Story story) {
    Answer created = stage.ada().createProject("cassini", UuidCreator.getTimeOrderedEpoch());
    story.cameBack("%s, idempotency-expires: %s".formatted(created, created.expires()));
    return Duration.between(Instant.now(), created.expires());
  }

  private static boolean isAbout(int hours, Duration duration) {
    return duration.minusHours(hours).abs().toMinutes() < 5;
  }

  /** The demo may be played on data of somebody's own. */
  private static Optional<String> setAside(Path file) {
    try {
      Optional<String> kept =
          Files.exists(file) ? Optional.of(Files.readString(file)) : Optional.empty();
      Files.deleteIfExists(file);
      return kept;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void putBack(Path file, Optional<String> kept) {
    Optional<String> unused = setAside(file);
    kept.ifPresent(content -> write(file, content));
  }

  private static void write(Path file, String line) {
    try {
      Files.writeString(file, line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
