package io.github.grpcidempotency.spring;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** A server whose store has the transactions of a host. */
final class SpringServer implements AutoCloseable {
  private static final Duration LONG_WAIT = Duration.ofMinutes(1);

  private final Host host;
  private final Way way;
  private final EventJournal journal = new EventJournal();
  private final ThingServer server;

  private SpringServer(Host host, Way way, DataSource pool) {
    this.host = host;
    this.way = way;
    this.server =
        ThingServer.on(Transport.IN_PROCESS)
            .store(
                PostgresIdempotencyStore.builder(pool)
                    .hostTransactions(host.transactions())
                    .build())
            .createThing(thing -> way.describe(thing).attach(LONG_WAIT))
            .describe(way.describe(Procedure.of(ThingServer.CREATE_OTHER)).build())
            .settings(settings -> settings.listener(journal.listener()))
            .start();
  }

  static SpringServer start(Host host, Way way) {
    return start(host, way, host.dataSource());
  }

  /** Starts a server whose store has a pool beside the host's data source. */
  static SpringServer start(Host host, Way way, DataSource pool) {
    return new SpringServer(host, way, pool);
  }

  Host host() {
    return host;
  }

  EventJournal journal() {
    return journal;
  }

  int runs() {
    return server.runs();
  }

  ThingClient newClient() {
    return ThingClient.on(server.channel());
  }

  void handle(ThingHandler handler) {
    server.things().handle(handler);
  }

  /** Handles calls by doing this with the new thing, and then answering with it. */
  void create(Consumer<Thing> effect) {
    handle(ThingHandler.creating(effect));
  }

  /** Writes a thing of the caller. A claim at commit does not set the user for its handler. */
  void insert(Thing thing) {
    if (way == Way.AT_COMMIT) {
      host.become(ThingServer.caller().userId());
    }
    host.insert(UUID.fromString(thing.getId()), thing.getName());
  }

  static CreateThingRequest named(String name) {
    return CreateThingRequest.newBuilder().setName(name).build();
  }

  /** Returns another pool. */
  static HikariDataSource pool(String jdbcUrl) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.addDataSourceProperty("socketTimeout", "30");
    config.setMaximumPoolSize(5);
    config.setMinimumIdle(0);
    return new HikariDataSource(config);
  }

  @Override
  public void close() {
    server.close();
  }
}
