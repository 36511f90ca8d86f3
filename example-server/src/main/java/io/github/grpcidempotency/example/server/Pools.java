package io.github.grpcidempotency.example.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.example.database.HostDatabase;
import java.time.Duration;
import javax.sql.DataSource;

/** What is connected to at run time, as two roles: nobody waits for the connections of others. */
record Pools(
    HikariDataSource app, HikariDataSource worker, HikariDataSource jobs, HikariDataSource health)
    implements AutoCloseable {
  private static final int CALLS_AT_ONCE = 10;
  private static final Duration GIVE_UP_AFTER = Duration.ofSeconds(5);

  static Pools open(HostDatabase database) {
    return new Pools(
        pool("app", database.app(), CALLS_AT_ONCE),
        pool("worker", database.worker(), 1),
        pool("jobs", database.worker(), 2),
        pool("health", database.app(), 1));
  }

  private static HikariDataSource pool(String name, DataSource dataSource, int size) {
    HikariConfig config = new HikariConfig();
    config.setPoolName(name);
    config.setDataSource(dataSource);
    config.setMaximumPoolSize(size);
    config.setConnectionTimeout(GIVE_UP_AFTER.toMillis());
    return new HikariDataSource(config);
  }

  @Override
  public void close() {
    health.close();
    jobs.close();
    worker.close();
    app.close();
  }
}
