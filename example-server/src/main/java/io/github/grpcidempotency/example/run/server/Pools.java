package io.github.grpcidempotency.example.run.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.example.run.database.HostDatabase;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * The connection pools of the server, with two roles. Each use has its own pool, so that none waits
 * for another.
 */
record Pools(
    HikariDataSource app,
    HikariDataSource worker,
    HikariDataSource jobs,
    HikariDataSource health,
    HikariDataSource metrics)
    implements AutoCloseable {
  private static final int CALLS_AT_ONCE = 10;
  private static final Duration GIVE_UP_AFTER = Duration.ofSeconds(5);
  private static final Duration GIVE_UP_LOOKING_AFTER = Duration.ofSeconds(1);

  static Pools open(HostDatabase database) {
    return new Pools(
        pool("app", database.app(), CALLS_AT_ONCE, GIVE_UP_AFTER),
        pool("worker", database.worker(), 1, GIVE_UP_AFTER),
        pool("jobs", database.worker(), 2, GIVE_UP_AFTER),
        pool("health", database.app(), 1, GIVE_UP_LOOKING_AFTER),
        pool("metrics", database.app(), 1, GIVE_UP_LOOKING_AFTER));
  }

  private static HikariDataSource pool(
      String name, DataSource dataSource, int size, Duration giveUpAfter) {
    HikariConfig config = new HikariConfig();
    config.setPoolName(name);
    config.setDataSource(dataSource);
    config.setMaximumPoolSize(size);
    config.setConnectionTimeout(giveUpAfter.toMillis());
    return new HikariDataSource(config);
  }

  @Override
  public void close() {
    metrics.close();
    health.close();
    jobs.close();
    worker.close();
    app.close();
  }
}
