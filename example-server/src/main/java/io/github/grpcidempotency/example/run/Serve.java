package io.github.grpcidempotency.example.run;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.example.service.background.Parts;
import io.github.grpcidempotency.procedure.ResponseProtection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Serves the organisation API until it is stopped. */
@Command(
    name = "serve",
    sortOptions = false,
    description =
        "Serves organization.v1 until Ctrl-C, on a temporary PostgreSQL or on yours. Calls send \"authorization: Bearer <user uuid>\", optionally \"organization\" and \"project\", and \"idempotency-key: <uuid>\".",
    footer =
        "The asynchronous work of a resource fails if the resource's name starts with"
            + " \"fail-\"; with \"flaky-\", it succeeds at the second attempt.")
public final class Serve implements Callable<Integer> {
  private static final Duration LEASE = Duration.ofSeconds(30);

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "50051",
      description = "the port to listen on, 0 for any free port (default: ${DEFAULT-VALUE})")
  private int port;

  @Option(
      names = "--metrics-port",
      paramLabel = "PORT",
      defaultValue = "0",
      description =
          "the port of the metrics for Prometheus, on this machine only, 0 for any free port"
              + " (default: ${DEFAULT-VALUE})")
  private int metricsPort;

  @ArgGroup(exclusive = false)
  private @Nullable OwnDatabase own;

  /** All servers of a database need the same keys, or they cannot decrypt each other's records. */
  private static final class OwnDatabase {
    @Option(
        names = "--jdbc-url",
        paramLabel = "URL",
        required = true,
        description =
            "a PostgreSQL of your own, such as jdbc:postgresql://localhost:5432/example;"
                + " src/main/resources/db/roles.sql creates the roles, and ~/.pgpass contains their"
                + " passwords")
    private String url = "";

    @Option(
        names = "--keyset",
        paramLabel = "FILE",
        required = true,
        description =
            "the Tink keyset that encrypts recorded secrets, as created by \"keys CREATE\"")
    private Path keyset = Path.of("keyset.json");

    @Option(
        names = "--log-secret",
        paramLabel = "FILE",
        description =
            "the secret with which log lines hash keys, users and tenants, of at least 16 bytes, the"
                + " same on all servers; a temporary one if it is not given")
    private @Nullable Path logSecret;
  }

  @Override
  public Integer call() throws Exception {
    OwnDatabase given = own;
    ResponseProtection secrets = given == null ? Keys.temporary() : Keys.in(given.keyset);
    try (Parts parts = Parts.closedOnShutdown()) {
      Database database =
          parts.start(() -> given == null ? Database.embedded() : Database.at(given.url));
      database.migrate();
      Settings settings = Settings.of(LEASE, secrets, logSecret(given), new MachineShop());
      RunningServer server =
          parts.start(() -> RunningServer.start(port, metricsPort, settings, database));
      System.out.println("listening on port " + server.port());
      System.out.printf("metrics are at http://localhost:%d/metrics%n", server.metricsPort());
      server.awaitTermination();
      return 0;
    }
  }

  private static ByteString logSecret(@Nullable OwnDatabase given) throws IOException {
    return given == null || given.logSecret == null
        ? Keys.temporaryLogSecret()
        : ByteString.copyFrom(Files.readAllBytes(given.logSecret));
  }
}
