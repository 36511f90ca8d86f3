package io.github.grpcidempotency.example.run.settings;

import io.github.grpcidempotency.example.service.organization.OrganizationProcedures;
import io.github.grpcidempotency.example.service.organization.Retentions;
import io.github.grpcidempotency.procedure.ResponseProtection;
import java.nio.file.Files;
import java.nio.file.Path;

/** The files that a server finds in its data directory, beside the database. */
public record DataFiles(Path directory) {

  /** Returns where the retentions are, if there are any. */
  public Path retentionFile() {
    return directory.resolve("retention.properties");
  }

  /**
   * Returns how long retries are answered.
   *
   * @throws io.github.grpcidempotency.example.run.database.StartupFailure if the file is invalid
   */
  public Retentions retentions() {
    return RetentionFile.follow(retentionFile(), OrganizationProcedures.methods());
  }

  /** Returns the keyset's file, which is made if there is none. */
  public Path keyset() {
    Path file = directory.resolve("keyset.json");
    if (Files.notExists(file)) {
      Keyset.create().writeNew(file);
    }
    return file;
  }

  /** Returns where a provider in this process keeps its sales. */
  public Path machines() {
    return directory.resolve("machines");
  }

  /** Returns the protection of recorded secrets. */
  public ResponseProtection secrets() {
    return new KeysetProtection(keyset());
  }
}
