package io.github.grpcidempotency.example.run.command;

import io.github.grpcidempotency.example.run.database.StartupFailure;
import io.github.grpcidempotency.example.run.settings.DataFiles;
import io.github.grpcidempotency.example.run.settings.Keyset;
import io.github.grpcidempotency.example.run.settings.KeysetProtection;
import io.github.grpcidempotency.example.run.settings.RetentionFile;
import io.github.grpcidempotency.example.service.organization.OrganizationProcedures;
import io.github.grpcidempotency.example.service.organization.Retentions;
import io.github.grpcidempotency.procedure.ResponseProtection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Which files the server follows while it runs. */
final class FileOptions {
  @Option(
      names = "--keyset",
      paramLabel = "FILE",
      description =
          "the Tink keyset that keeps recorded secrets (default: keyset.json in the data directory, made if missing; with --jdbc-url there is no default)")
  private Optional<Path> keyset = Optional.empty();

  @Option(
      names = "--retention-file",
      paramLabel = "FILE",
      description =
          "how long retries are answered, in lines such as \"CreateProject = 48h\"; may be changed at any time (default: retention.properties in the data directory, if there is one)")
  private Optional<Path> retentionFile = Optional.empty();

  @Option(
      names = "--ttl",
      paramLabel = "DURATION",
      converter = DurationConverter.Positive.class,
      description =
          "how long retries are answered, for all procedures and whatever the file in the data directory says (default: what each says itself, 24h to 30d)")
  private Optional<Duration> ttl = Optional.empty();

  /**
   * Checks the files that were named, before anything is started.
   *
   * @param command that has these options
   * @param data where the others are; empty if the database is the user's own
   * @throws ParameterException if an option would have no effect
   * @throws StartupFailure if a file is missing or invalid
   */
  void check(CommandSpec command, Optional<DataFiles> data) {
    new OptionRules(command).notBeside("--ttl", List.of("--retention-file"));
    keyset.ifPresent(Keyset::read);
    retentionFile.filter(Files::notExists).ifPresent(FileOptions::refuseMissing);
    if (keyset.isEmpty() && data.isEmpty()) {
      throw new StartupFailure(
          "With --jdbc-url, --keyset is needed: all servers of a database need the same keys, or cannot open each other's records.");
    }
    Retentions unused = retentions(data);
  }

  /** A file that was named must exist; a file in the data directory may come and go. */
  private static void refuseMissing(Path file) {
    throw new StartupFailure("There are no retentions at " + file + ".");
  }

  /** Returns what keeps recorded secrets. */
  ResponseProtection secrets(Optional<DataFiles> data) {
    return keyset
        .<ResponseProtection>map(KeysetProtection::new)
        .or(() -> data.map(DataFiles::secrets))
        .orElseThrow();
  }

  /** Returns how long retries are answered. */
  Retentions retentions(Optional<DataFiles> data) {
    if (ttl.isPresent()) {
      return method -> ttl;
    }
    return retentionFile
        .map(file -> RetentionFile.follow(file, OrganizationProcedures.methods()))
        .or(() -> data.map(DataFiles::retentions))
        .orElse(method -> Optional.empty());
  }
}
