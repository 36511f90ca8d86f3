package io.github.grpcidempotency.cli;

import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/**
 * The database and the role. There is no option for a password, because others could read it in the
 * list of processes.
 */
final class ConnectionOptions {
  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "The database: jdbc:postgresql://HOST:PORT/NAME or postgres://HOST:PORT/NAME."
              + " Default: IDEMPOTENCY_URL, or PGHOST, PGPORT and PGDATABASE.")
  Optional<String> url = Optional.empty();

  @Option(
      names = "--user",
      paramLabel = "ROLE",
      description =
          "The database role. Default: the user in the URL, IDEMPOTENCY_USER, PGUSER, or the"
              + " name of the user of this computer.")
  Optional<String> role = Optional.empty();

  @Option(
      names = "--password-file",
      paramLabel = "FILE",
      description =
          "A file whose first line is the role's password. Default: IDEMPOTENCY_PASSWORD,"
              + " PGPASSWORD, or ~/.pgpass; on a terminal, the command prompts for it.")
  Optional<Path> passwordFile = Optional.empty();

  @Option(
      names = "--schema",
      paramLabel = "NAME",
      description = "The library's schema. Default: IDEMPOTENCY_SCHEMA, or idempotency.")
  Optional<String> schema = Optional.empty();
}
