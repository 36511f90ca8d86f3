package io.github.grpcidempotency.example.run.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.example.run.database.StartupFailure;
import io.github.grpcidempotency.example.service.organization.Retentions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RetentionFileTest {
  private static final Set<String> METHODS = Set.of("CreateProject", "InviteMember");

  private final Path file;

  RetentionFileTest(@TempDir Path directory) {
    this.file = directory.resolve("retention.properties");
  }

  @Test
  void aMissingFileCountsAsEmptyAndMayComeAndGo() throws IOException {
    Retentions retentions = RetentionFile.follow(file, METHODS);
    assertThat(retentions.of("CreateProject")).isEmpty();

    Files.writeString(file, "CreateProject = 48h");
    assertThat(retentions.of("CreateProject")).contains(Duration.ofDays(2));
    assertThat(retentions.of("InviteMember")).isEmpty();

    Files.writeString(file, "CreateProject = 1h\nInviteMember = 7d");
    assertThat(retentions.of("CreateProject")).contains(Duration.ofHours(1));
    assertThat(retentions.of("InviteMember")).contains(Duration.ofDays(7));

    Files.delete(file);
    assertThat(retentions.of("CreateProject")).isEmpty();
  }

  @Test
  void aLineMayNameARetentionClass() throws IOException {
    Files.writeString(file, "CreateProject = financial\nInviteMember = invitation");
    Retentions retentions = RetentionFile.follow(file, METHODS);

    assertThat(retentions.of("CreateProject")).contains(Duration.ofDays(30));
    assertThat(retentions.of("InviteMember")).contains(Duration.ofDays(7));
  }

  @Test
  void aLineWithAnUnknownNameGetsTheKnownNames() throws IOException {
    Files.writeString(file, "CreateProject = yearly");
    assertThatThrownBy(() -> RetentionFile.follow(file, METHODS))
        .isInstanceOf(StartupFailure.class)
        .hasMessageEndingWith("nor one of [financial, interactive, invitation, webhook].");
  }

  @Test
  void anInvalidChangeLeavesTheOldContentInForce() throws IOException {
    Files.writeString(file, "CreateProject = 48h");
    Retentions retentions = RetentionFile.follow(file, METHODS);
    Files.writeString(file, "CreateProject = for ever");
    assertThat(retentions.of("CreateProject")).contains(Duration.ofDays(2));
  }

  @Test
  void aFileThatMakesNoSenseFromTheStartIsRefused() throws IOException {
    Files.writeString(file, "CreateProjekt = 48h");
    assertThatThrownBy(() -> RetentionFile.follow(file, METHODS))
        .isInstanceOf(StartupFailure.class)
        .hasMessage(
            "The retentions in %s cannot be used: CreateProjekt is no method that keeps records.",
            file);
  }
}
