package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * What the steps play on: two users, a network between them and the server, the rows, and the
 * database with the files beside it.
 */
final class Stage implements AutoCloseable {
  /**
   * gRPC's own retries: a call that finds its key in progress comes again, and nobody writes code.
   */
  private static final Map<String, ?> RETRY_WHEN_IN_PROGRESS =
      Map.of(
          "methodConfig",
          List.of(
              Map.of(
                  "name",
                  List.of(Map.of("service", "organization.v1.ProjectService")),
                  "retryPolicy",
                  Map.of(
                      "maxAttempts",
                      5.0,
                      "initialBackoff",
                      "0.1s",
                      "maxBackoff",
                      "1s",
                      "backoffMultiplier",
                      2.0,
                      "retryableStatusCodes",
                      List.of("ABORTED")))));

  private final LossyProxy network;
  private final ManagedChannel channel;
  private final DemoClient ada;
  private final DemoClient grace;
  private final Rows rows;
  private final EmbeddedDatabase database;

  Stage(int serverPort, EmbeddedDatabase database) {
    this.network = LossyProxy.inFrontOf(serverPort);
    this.channel =
        Grpc.newChannelBuilderForAddress(
                "localhost", network.port(), InsecureChannelCredentials.create())
            .defaultServiceConfig(RETRY_WHEN_IN_PROGRESS)
            .build();
    this.ada = new DemoClient(UUID.randomUUID(), channel);
    this.grace = new DemoClient(UUID.randomUUID(), channel);
    this.rows = new Rows(database.superuser());
    this.database = database;
  }

  LossyProxy network() {
    return network;
  }

  DemoClient ada() {
    return ada;
  }

  DemoClient grace() {
    return grace;
  }

  Rows rows() {
    return rows;
  }

  EmbeddedDatabase database() {
    return database;
  }

  @Override
  public void close() throws IOException {
    channel.shutdownNow();
    network.close();
  }
}
