package io.github.grpcidempotency.client;

import com.zaxxer.hikari.HikariDataSource;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * The database of a client service with its intents, decisions and answers. In statements, {@code
 * {intents}}, {@code {decisions}} and {@code {answers}} are the names of the tables.
 */
final class ClientDatabase implements AutoCloseable {
  private static final String SQLITE = "jdbc:sqlite:";

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

  /** Opens a PostgreSQL database whose statements here are a superuser's. */
  static ClientDatabase of(Databases.Database buyer) {
    HikariDataSource pool = buyer.pool();
    return new ClientDatabase(
        buyer.url(), pool, buyer.fixture().superuser(), IntentStore.postgres(pool));
  }

  /** Opens a SQLite file, or creates it with its tables. */
  static ClientDatabase sqlite(Path file) {
    ClientDatabase database = open(SQLITE + file);
    database.execute("CREATE TABLE IF NOT EXISTS {decisions} (name TEXT PRIMARY KEY)");
    database.execute("CREATE TABLE IF NOT EXISTS {answers} (key TEXT, order_id TEXT)");
    return database;
  }

  /** Opens a database that exists. */
  static ClientDatabase open(String url) {
    HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl(url);
    pool.setMinimumIdle(0);
    try {
      if (url.startsWith(SQLITE)) {
        pool.addDataSourceProperty("busy_timeout", "30000");
        Path file = Path.of(url.substring(SQLITE.length()));
        return new ClientDatabase(url, pool, pool, IntentStore.sqlite(file));
      }
      return new ClientDatabase(url, pool, pool, IntentStore.postgres(pool));
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
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
    return column("SELECT key FROM {intents}");
  }

  /** Returns the first column of a query, as text. */
  List<String> column(String sql) {
    try (Connection connection = owner.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(named(sql))) {
      List<String> column = new ArrayList<>();
      while (rows.next()) {
        column.add(rows.getString(1));
      }
      return column;
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  void execute(String sql) {
    try (Connection connection = owner.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(named(sql));
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Lets all intents age. */
  void pass(Duration time) {
    execute(
        (isSqlite()
                ? "UPDATE {intents} SET created = created - %1$d, due = due - %1$d"
                : "UPDATE {intents} SET created = created - interval '%1$d milliseconds',"
                    + " due = due - interval '%1$d milliseconds'")
            .formatted(time.toMillis()));
  }

  /** Returns a statement with the names of this database's tables. */
  String named(String sql) {
    return isSqlite()
        ? sql.replace("{intents}", "idempotency_client_intents")
            .replace("{decisions}", "buyer_decisions")
            .replace("{answers}", "buyer_answers")
        : sql.replace("{intents}", "idempotency_client.intents")
            .replace("{decisions}", "buyer.decisions")
            .replace("{answers}", "buyer.answers");
  }

  private boolean isSqlite() {
    return url.startsWith(SQLITE);
  }

  @Override
  public void close() {
    pool.close();
  }
}
