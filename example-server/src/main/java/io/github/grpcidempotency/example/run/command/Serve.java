package io.github.grpcidempotency.example.run.command;

import io.github.grpcidempotency.example.run.database.HostDatabase;
import io.github.grpcidempotency.example.run.database.StartupFailure;
import io.github.grpcidempotency.example.run.server.RunningServer;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.example.service.background.Parts;
import io.github.grpcidempotency.example.service.organization.CloudProvider;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Serves the organisation API until it is told to stop. */
@Command(
    name = "serve",
    sortOptions = false,
    description =
        "Serves organization.v1 with idempotent creates until Ctrl-C, on an embedded PostgreSQL or on yours. Calls send \"authorization: Bearer <user uuid>\", optionally \"organization\" and \"project\", and \"idempotency-key: <uuid>\".",
    footer =
        "A resource whose name starts with \"fail-\" never gets its authorization, and ends as failed; with \"flaky-\" it gets it at the second attempt. Durations are such as 500ms, 30s, 5m, 24h, 2d or PT1H30M.")
public final class Serve implements Callable<Integer> {
  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "50051",
      description = "where to listen, 0 for any free port (default: ${DEFAULT-VALUE})")
  private int port;

  @Option(
      names = "--metrics-port",
      paramLabel = "PORT",
      defaultValue = "0",
      description =
          "where Prometheus finds metrics, on this machine only, 0 for any free port (default: ${DEFAULT-VALUE})")
  private int metricsPort;

  @Spec private CommandSpec command = CommandSpec.create(); // which picocli replaces by its own

  @Mixin private DatabaseOptions database = new DatabaseOptions();

  @Option(
      names = "--lease",
      paramLabel = "DURATION",
      defaultValue = "30s",
      description = "how long a crashed server's call blocks its key (default: ${DEFAULT-VALUE})")
  private Duration lease = Duration.ofSeconds(30);

  @Mixin private FileOptions files = new FileOptions();

  @Mixin private ProviderOptions provider = new ProviderOptions();

  @Option(
      names = "--outbox-delay",
      paramLabel = "DURATION",
      defaultValue = "2s",
      description =
          "how long the work behind a create is delayed, so that it can be seen processing (default: ${DEFAULT-VALUE})")
  private Duration outboxDelay = Duration.ofSeconds(2);

  @Option(
      names = "--usage-period",
      paramLabel = "DURATION",
      defaultValue = "24h",
      description =
          "the period of a usage statement; one of the servers makes each statement, once (default: ${DEFAULT-VALUE})")
  private Duration usagePeriod = Duration.ofHours(24);

  @Option(
      names = "--sweep-interval",
      paramLabel = "DURATION",
      defaultValue = "1h",
      converter = DurationConverter.Positive.class,
      description = "how often expired records are swept (default: ${DEFAULT-VALUE})")
  private Duration sweepInterval = Duration.ofHours(1);

  @Option(
      names = "--grace",
      paramLabel = "DURATION",
      defaultValue = "5s",
      description =
          "how long handlers may continue after Ctrl-C or SIGTERM (default: ${DEFAULT-VALUE})")
  private Duration grace = Duration.ofSeconds(5);

  @Override
  public Integer call() throws InterruptedException {
    database.check(command);
    files.check(command, database.files());
    requireFree(port, "--port");
    requireFree(metricsPort, "--metrics-port");
    try (Parts parts = Parts.closedOnShutdown()) {
      HostDatabase opened = parts.start(database::open);
      database.migrate(opened);
      String target = provider.target(parts, database.files());
      CloudProvider cloud = parts.start(() -> CloudProvider.at(target));
      RunningServer server =
          parts.start(() -> RunningServer.start(port, metricsPort, settings(cloud), opened));
      System.out.println("listening on port " + server.port());
      System.out.println(
          "metrics are at http://localhost:%d/metrics".formatted(server.metricsPort()));
      System.out.println("machines are bought at " + target);
      server.awaitTermination();
      return 0;
    }
  }

  /** Checked first, because starting a database in vain takes seconds. */
  private static void requireFree(int port, String option) {
    try {
      new ServerSocket(port).close();
    } catch (IOException | IllegalArgumentException e) {
      throw new StartupFailure(
          "Port %d cannot be listened on (%s); choose another with %s."
              .formatted(port, e.getMessage(), option));
    }
  }

  private Settings settings(CloudProvider cloud) {
    return new Settings(
        lease,
        outboxDelay,
        usagePeriod,
        files.retentions(database.files()),
        files.secrets(database.files()),
        cloud,
        sweepInterval,
        grace);
  }
}
