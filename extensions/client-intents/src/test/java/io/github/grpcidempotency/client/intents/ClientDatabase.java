package io.github.grpcidempotency.client.intents;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.shop.Databases;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/** The database of a client service with its intents, decisions and answers. */
final class ClientDatabase implements AutoCloseable {
  private static final PostgresFixture.Builder BUYERS =
      PostgresFixture.withRoles("buyer_owner", "buyer_app")
          .migrate(owner -> run(owner, "migration/V1__intents.sql"))
          .migrate(owner -> run(owner, "buyer.sql"));

  private final String url;
  private final HikariDataSource pool;
  private final DataSource owner;
  private final IntentStore intents;

  private ClientDatabase(String url, HikariDataSource pool, DataSource owner, IntentStore intents) {
    this.url = url;
    this.pool = pool;
    this.owner = owner;
    this.intents = intents;
  }

  private static void run(DataSource owner, String file) throws IOException {
    Databases.run(owner, ClientDatabase.class, file);
  }

  /** Creates a database. */
  static Databases.Database buyer() {
    return new Databases.Database(BUYERS.create(), "buyer_app");
  }

  /** Opens a PostgreSQL database whose statements here are a superuser's. */
  static ClientDatabase of(Databases.Database buyer) {
    HikariDataSource pool = buyer.pool();
    return new ClientDatabase(
        buyer.url(), pool, buyer.fixture().superuser(), IntentStore.postgres(pool));
  }

  /** Opens a database that exists. */
  static ClientDatabase open(String url) {
    HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl(url);
    pool.setMinimumIdle(0);
    return new ClientDatabase(url, pool, pool, IntentStore.postgres(pool));
  }

  String url() {
    return url;
  }

  IntentStore intents() {
    return intents;
  }

  Connection connection() throws SQLException {
    return pool.getConnection();
  }

  /** Returns the keys of all intents. */
  List<String> keys() {
    return column("SELECT key FROM idempotency_client.intents");
  }

  /** Returns the first column of a query, as text. */
  List<String> column(String sql) {
    return Databases.column(owner, sql);
  }

  void execute(String sql) {
    Databases.execute(owner, sql);
  }

  /** Lets all intents age. */
  void pass(Duration time) {
    execute(
        ("UPDATE idempotency_client.intents SET created = created - interval '%1$d milliseconds',"
                + " due = due - interval '%1$d milliseconds'")
            .formatted(time.toMillis()));
  }

  @Override
  public void close() {
    pool.close();
  }
}
