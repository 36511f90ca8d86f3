package io.github.grpcidempotency.example.run;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * The connection pools of the server. Each use has a pool of its own, so that no use waits for
 * another.
 */
record Pools(HikariDataSource app, HikariDataSource worker, HikariDataSource watch)
    implements AutoCloseable {
  static Pools open(Database database) {
    return new Pools(
        pool("app", database.app(), 10, Duration.ofSeconds(5)),
        pool("worker", database.worker(), 1, Duration.ofSeconds(5)),
        pool("watch", database.app(), 2, Duration.ofSeconds(1)));
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
    watch.close();
    worker.close();
    app.close();
  }
}
