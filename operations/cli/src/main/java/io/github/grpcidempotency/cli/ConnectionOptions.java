package io.github.grpcidempotency.cli;

import java.util.Optional;
import picocli.CommandLine.Option;

/**
 * Which database, and as whom. No option takes a password: others could read it in the list of
 * processes. It is in IDEMPOTENCY_PASSWORD, in the driver's ~/.pgpass, or asked for.
 */
final class ConnectionOptions {
  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "The database: jdbc:postgresql://HOST:PORT/NAME or postgres://HOST:PORT/NAME. Default:"
              + " IDEMPOTENCY_URL.")
  Optional<String> url = Optional.empty();

  @Option(
      names = "--user",
      paramLabel = "ROLE",
      description =
          "The database role. Default: the URL's, IDEMPOTENCY_USER, or the name of the user of this"
              + " computer. Its password: IDEMPOTENCY_PASSWORD, or ~/.pgpass; on a terminal it is"
              + " asked for.")
  Optional<String> role = Optional.empty();

  @Option(
      names = "--schema",
      paramLabel = "NAME",
      description = "The library's schema. Default: IDEMPOTENCY_SCHEMA, or idempotency.")
  Optional<String> schema = Optional.empty();
}
