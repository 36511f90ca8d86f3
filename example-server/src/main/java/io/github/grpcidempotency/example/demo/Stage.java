package io.github.grpcidempotency.example.demo;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import io.github.grpcidempotency.example.provider.MachineShop;
import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.run.server.RunningServer;
import io.github.grpcidempotency.example.run.settings.DataFiles;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/**
 * What the story uses: two users, a network between them and the server, the rows, the machines
 * that the cloud provider has sold, the handlers that the server has started, and the database with
 * the files beside it.
 */
record Stage(
    DemoClient ada,
    DemoClient grace,
    LossyProxy network,
    Rows rows,
    Machines machines,
    Handlers handlers,
    EmbeddedDatabase database,
    ManagedChannel channel,
    ManagedChannel provider)
    implements AutoCloseable {

  /** gRPC's own retries: a call that finds its key in progress is sent again, without any code. */
  private static final String RETRY_WHEN_IN_PROGRESS =
      """
      {"methodConfig": [{
        "name": [{"service": "organization.v1.ProjectService"}],
        "retryPolicy": {
          "maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
          "retryableStatusCodes": ["ABORTED"]}}]}
      """;

  static Stage inFrontOf(RunningServer server, MachineShop shop, EmbeddedDatabase database) {
    LossyProxy network = LossyProxy.inFrontOf(server.port());
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "localhost", network.port(), InsecureChannelCredentials.create())
            .defaultServiceConfig(new Gson().fromJson(RETRY_WHEN_IN_PROGRESS, new TypeToken<>() {}))
            .build();
    ManagedChannel provider =
        Grpc.newChannelBuilder(shop.target(), InsecureChannelCredentials.create()).build();
    return new Stage(
        new DemoClient(UUID.randomUUID(), channel),
        new DemoClient(UUID.randomUUID(), channel),
        network,
        new Rows(Jdbi.create(database.superuser())),
        new Machines(provider),
        new Handlers(server.metricsPort()),
        database,
        channel,
        provider);
  }

  DataFiles files() {
    return new DataFiles(database.directory());
  }

  @Override
  public void close() throws IOException {
    channel.shutdownNow();
    provider.shutdownNow();
    network.close();
  }
}
