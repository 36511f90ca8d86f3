package io.github.grpcidempotency.cli;

import java.util.Optional;
import picocli.CommandLine.Option;

/**
 * The database and the role. There is no option for a password, because others could read it in the
 * list of processes. The password is in IDEMPOTENCY_PASSWORD or in the driver's ~/.pgpass;
 * otherwise, the command prompts for it.
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
          "The database role. Default: the user in the URL, IDEMPOTENCY_USER, or the name of"
              + " the user of this computer. Its password: IDEMPOTENCY_PASSWORD, or ~/.pgpass; on a"
              + " terminal, the command prompts for it.")
  Optional<String> role = Optional.empty();

  @Option(
      names = "--schema",
      paramLabel = "NAME",
      description = "The library's schema. Default: IDEMPOTENCY_SCHEMA, or idempotency.")
  Optional<String> schema = Optional.empty();
}
