package io.github.grpcidempotency.spring;

import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;

/** Tests of handlers on a server that starts once for each kind of manager. */
abstract class SpringServerTest {
  static final CreateThingRequest REQUEST = SpringServer.named("a thing");

  /** One server for all tests of a kind. */
  private static final Set<SpringServer> servers = ConcurrentHashMap.newKeySet();

  final Host.Kind kind;
  final Way way;
  final SpringServer server;
  final Host host;
  final ThingClient client;
  private final PostgresFixture fixture;

  SpringServerTest(Host.Kind kind, Way way, PostgresFixture fixture) {
    this.kind = kind;
    this.way = way;
    this.fixture = fixture;
    if (servers.isEmpty()) {
      servers.add(SpringServer.start(Host.of(kind, fixture.pool()), way));
    }
    this.server = servers.iterator().next();
    this.host = server.host();
    this.client = server.newClient();
  }

  @AfterParameterizedClassInvocation
  static void closeServers() {
    servers.forEach(SpringServer::close);
    servers.forEach(server -> server.host().close());
    servers.clear();
  }

  @AfterEach
  void everyConnectionIsGivenBack() {
    await().until(() -> fixture.pool().getHikariPoolMXBean().getActiveConnections() == 0);
  }
}
