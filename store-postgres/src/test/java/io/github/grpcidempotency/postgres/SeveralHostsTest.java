package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A JDBC URL with several hosts, of which the last is down. The driver reports the failure of the
 * last host only. The procedure fails open.
 */
class SeveralHostsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private final FaultProxy alive = FaultProxy.before(database.appUrl());
  private final HikariDataSource pool = PostgresThingServer.pool(url(), Duration.ofSeconds(4));
  private final ThingServer server = PostgresThingServer.on(database.app()).store(pool).start();
  private final ThingClient client = ThingClient.to(server.port());

  /** What keeps the first host, which is alive, from opening a session. */
  private enum Obstacle {
    REFUSED_LOGIN,
    NO_CONNECTION_LEFT,
    SILENT
  }

  @BeforeAll
  static void addRole() {
    database.superuser().useHandle(handle -> handle.execute("CREATE ROLE of_hosts LOGIN"));
    database.superuser().useHandle(handle -> handle.execute("GRANT things_app TO of_hosts"));
  }

  @AfterAll
  static void dropRole() {
    database.superuser().useHandle(handle -> handle.execute("DROP ROLE of_hosts"));
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
    pool.close();
    alive.close();
    alter("LOGIN CONNECTION LIMIT -1");
  }

  @ParameterizedTest
  @EnumSource
  void aHandlerDoesNotRunUnprotectedWhileAnyHostAcceptsConnections(Obstacle obstacle) {
    switch (obstacle) {
      case REFUSED_LOGIN -> alter("NOLOGIN");
      case NO_CONNECTION_LEFT -> alter("CONNECTION LIMIT 0");
      case SILENT -> alive.swallow();
    }
    alive.cutAll();

    for (int call = 0; call < 3; call++) {
      assertThat(client.withNewKey().createThing(REQUEST).reason())
          .isEqualTo(Things.STORE_UNAVAILABLE);
    }
    assertThat(server.runs()).isZero();
    assertThat(server.events()).doesNotContain(Kind.UNPROTECTED);
  }

  @Test
  void aHandlerRunsUnprotectedOnceNoHostAcceptsConnections() {
    alive.refuse();

    await().until(() -> client.createThing(REQUEST).isOk());

    assertThat(server.events()).contains(Kind.UNPROTECTED).doesNotContain(Kind.CLAIMED);
  }

  private static void alter(String role) {
    database.superuser().useHandle(handle -> handle.execute("ALTER ROLE of_hosts " + role));
  }

  private String url() {
    String hosts = "//127.0.0.1:%d,127.0.0.1:%d/".formatted(alive.port(), closedPort());
    return alive.jdbcUrl().replaceFirst("//[^/]+/", hosts).replace("things_app", "of_hosts")
        + "&targetServerType=primary&connectTimeout=1&socketTimeout=1";
  }

  private static int closedPort() {
    try (ServerSocket closed = new ServerSocket(0)) {
      return closed.getLocalPort();
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }
}
