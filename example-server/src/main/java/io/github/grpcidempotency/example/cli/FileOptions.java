package io.github.grpcidempotency.example.cli;

import io.github.grpcidempotency.example.database.StartupFailure;
import io.github.grpcidempotency.example.organization.OrganizationProcedures;
import io.github.grpcidempotency.example.settings.Keyset;
import io.github.grpcidempotency.example.settings.KeysetProtection;
import io.github.grpcidempotency.example.settings.Retentions;
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
public final class FileOptions {
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
   * Looks at the files that were named, before anything is started.
   *
   * @param command that has these options
   * @param dataDirectory where the others are; empty if the database is the user's own
   * @throws ParameterException if one would do nothing
   * @throws StartupFailure if one is missing or makes no sense
   */
  public void check(CommandSpec command, Optional<Path> dataDirectory) {
    new OptionRules(command).notBeside("--ttl", List.of("--retention-file"));
    keyset.ifPresent(Keyset::read);
    retentionFile.filter(Files::notExists).ifPresent(FileOptions::refuseMissing);
    if (keyset.isEmpty() && dataDirectory.isEmpty()) {
      throw new StartupFailure(
          "With --jdbc-url, --keyset is needed: all servers of a database need the same keys, or cannot open each other's records.");
    }
    Retentions unused = retentions(dataDirectory);
  }

  /** One that is named is meant to be there; one in the data directory may come and go. */
  private static void refuseMissing(Path file) {
    throw new StartupFailure("There are no retentions at " + file + ".");
  }

  /**
   * Returns what keeps recorded secrets.
   *
   * @throws StartupFailure if there is no keyset, or it makes no sense
   */
  public ResponseProtection secrets(Optional<Path> dataDirectory) {
    Path file =
        keyset.or(() -> dataDirectory.map(FileOptions::keysetIn)).orElse(Path.of("keyset.json"));
    return new KeysetProtection(file);
  }

  /**
   * Returns how long retries are answered.
   *
   * @throws StartupFailure if the file makes no sense
   */
  public Retentions retentions(Optional<Path> dataDirectory) {
    Optional<Retentions> forAll = ttl.map(Retentions::forAll);
    Optional<Path> file = retentionFile.or(() -> dataDirectory.map(FileOptions::retentionFileIn));
    return forAll
        .or(() -> file.map(path -> Retentions.in(path, OrganizationProcedures.methods())))
        .orElseGet(Retentions::asDescribed);
  }

  /** Returns where a data directory has its retentions. */
  public static Path retentionFileIn(Path dataDirectory) {
    return dataDirectory.resolve("retention.properties");
  }

  /** Returns where a data directory has its keyset, which is made if there is none. */
  public static Path keysetIn(Path dataDirectory) {
    Path file = dataDirectory.resolve("keyset.json");
    if (Files.notExists(file)) {
      Keyset.create().writeNew(file);
    }
    return file;
  }
}
