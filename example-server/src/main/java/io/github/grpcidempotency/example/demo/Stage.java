package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.client.ServiceConfigs;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.run.MachineShop;
import io.github.grpcidempotency.example.run.RunningServer;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/** What the scenes use: two users, the server, its database, and the shop that sells machines. */
record Stage(
    ManagedChannel channel,
    DemoClient ada,
    DemoClient grace,
    RunningServer server,
    Database database,
    MachineShop shop)
    implements AutoCloseable {

  /** The channel sends a call again that finds its key in progress, without any code. */
  static Stage before(RunningServer server, Database database, MachineShop shop) {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "localhost", server.port(), InsecureChannelCredentials.create())
            .defaultServiceConfig(ServiceConfigs.of(ProjectServiceGrpc.getServiceDescriptor()))
            .build();
    return new Stage(
        channel,
        new DemoClient(UUID.randomUUID(), channel),
        new DemoClient(UUID.randomUUID(), channel),
        server,
        database,
        shop);
  }

  /** Counts rows without row-level security, as proof of what the answers say. */
  int count(String sql, Object... values) {
    return Jdbi.create(database.superuser())
        .withHandle(
            handle ->
                handle.select("SELECT count(*) FROM " + sql, values).mapTo(Integer.class).one());
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
