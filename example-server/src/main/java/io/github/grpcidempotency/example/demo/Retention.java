package io.github.grpcidempotency.example.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;

/** How long retries get the same answer. */
final class Retention {
  private Retention() {}

  static void change(Stage stage, Story story) {
    story.expect("it is answered again for 24 hours", isAbout(24, create("", stage, story)));
    story.sent("the operator writes \"CreateProject = 48h\" into retention.properties");
    try {
      Files.writeString(stage.files().retentionFile(), "CreateProject = 48h\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    story.expect(
        "that one is, for 48 hours", isAbout(48, create(", under another key", stage, story)));
  }

  private static Duration create(String how, Stage stage, Story story) {
    story.sent("CreateProject \"cassini\"" + how);
    Answer created = stage.ada().createProject("cassini", DemoClient.newKey());
    story.cameBack("%s, idempotency-expires: %s".formatted(created, created.expires()));
    return Duration.between(Instant.now(), created.expires());
  }

  private static boolean isAbout(int hours, Duration duration) {
    return duration.minusHours(hours).abs().toMinutes() < 5;
  }
}
