package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.client.ServiceConfigs;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.example.run.Database;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/** The resources of the scenes: two users, a channel to the server, and its database. */
record Stage(ManagedChannel channel, DemoClient ada, DemoClient grace, Database database)
    implements AutoCloseable {

  /**
   * Creates a stage. Its channel retries a call whose key is in progress, without any code in the
   * scenes.
   */
  static Stage before(int port, Database database) {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress("localhost", port, InsecureChannelCredentials.create())
            .defaultServiceConfig(ServiceConfigs.of(ProjectServiceGrpc.getServiceDescriptor()))
            .build();
    return new Stage(
        channel,
        new DemoClient(UUID.randomUUID(), channel),
        new DemoClient(UUID.randomUUID(), channel),
        database);
  }

  /** Counts rows without row-level security, to check the answers. */
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
