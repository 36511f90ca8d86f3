package io.github.grpcidempotency.testing;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A server on which databases are created. Thread-safe. */
final class PostgresServer {
  /** The embedded server, which starts when it is first needed and stops with this JVM. */
  private static final Supplier<PostgresServer> EMBEDDED =
      new Once<>(PostgresServer::startEmbedded);

  private static final int SOCKET_TIMEOUT_SECONDS = 30;

  private static final Pattern URL =
      Pattern.compile("(jdbc:postgresql://[^/?]+/)([^?]*)(?:\\?(.*))?");
  private static final Pattern LOGIN = Pattern.compile("(user|password)=.*");

  private static final String SUPERUSER_OF_EMBEDDED = "postgres";
  private static final String NO_PASSWORD = "";

  /** The same password in every JVM, because several JVMs may use one server at once. */
  private static final String PASSWORD_OF_ROLES = "for-tests-only";

  private final String hosts;
  private final String database;
  private final List<String> parameters;
  private final String superuser;
  private final String superuserPassword;
  private final String rolePassword;
  private final ConcurrentLinkedQueue<String> databases = new ConcurrentLinkedQueue<>();

  private PostgresServer(
      String url, String superuser, String superuserPassword, String rolePassword) {
    Matcher parts = URL.matcher(url);
    if (!parts.matches()) {
      throw new IllegalArgumentException("not a JDBC URL of PostgreSQL: " + url);
    }
    this.hosts = parts.group(1);
    this.database = parts.group(2);
    this.parameters =
        Optional.ofNullable(parts.group(3)).stream()
            .flatMap(given -> Stream.of(given.split("&")))
            .filter(parameter -> !LOGIN.matcher(parameter).matches())
            .toList();
    this.superuser = superuser;
    this.superuserPassword = superuserPassword;
    this.rolePassword = rolePassword;
  }

  static PostgresServer embedded() {
    return EMBEDDED.get();
  }

  /**
   * Returns a running server. The databases that are created on it are dropped when this JVM ends.
   */
  static PostgresServer at(String url, String superuser, String password) {
    PostgresServer server = new PostgresServer(url, superuser, password, PASSWORD_OF_ROLES);
    Runtime.getRuntime().addShutdownHook(new Thread(server::dropDatabases, "drop databases"));
    return server;
  }

  private static PostgresServer startEmbedded() {
    try {
      // Ten seconds, the default, are too few for a busy machine.
      EmbeddedPostgres started =
          EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1)).start();
      return new PostgresServer(
          started.getJdbcUrl(SUPERUSER_OF_EMBEDDED, SUPERUSER_OF_EMBEDDED),
          SUPERUSER_OF_EMBEDDED,
          NO_PASSWORD,
          NO_PASSWORD);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /**
   * Creates an empty database with a unique name.
   *
   * @param options the options of {@code CREATE DATABASE}
   */
  String createDatabase(String options) {
    String name = "test_" + UUID.randomUUID().toString().replace("-", "");
    databases.add(name);
    execute(superuser(database), "CREATE DATABASE %s %s".formatted(name, options));
    return name;
  }

  /** Creates a role to which row-level security applies, unless it exists. */
  void createRole(String name) {
    String password = rolePassword.isEmpty() ? "" : " PASSWORD '%s'".formatted(rolePassword);
    execute(
        superuser(database),
        """
        DO $$
        BEGIN
          -- Another JVM may do the same.
          PERFORM pg_advisory_xact_lock(4711);
          IF EXISTS (
            SELECT FROM pg_roles WHERE rolname = '%1$s' AND (rolsuper OR rolbypassrls))
          THEN
            RAISE EXCEPTION 'the role %1$s bypasses row-level security: tests need one that does not';
          ELSIF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%1$s')
          THEN
            CREATE ROLE "%1$s";
          END IF;
          ALTER ROLE "%1$s" LOGIN%2$s;
        END
        $$
        """
            .formatted(name, password));
  }

  PGSimpleDataSource superuser(String database) {
    return connect(jdbcUrl(database, superuser, superuserPassword));
  }

  PGSimpleDataSource role(String database, String role) {
    PGSimpleDataSource dataSource = connect(jdbcUrl(database, role));
    dataSource.setSocketTimeout(SOCKET_TIMEOUT_SECONDS);
    return dataSource;
  }

  String jdbcUrl(String database, String role) {
    return jdbcUrl(database, role, rolePassword);
  }

  private String jdbcUrl(String database, String user, String password) {
    List<String> all = new ArrayList<>();
    all.add("user=" + encoded(user));
    if (!password.isEmpty()) {
      all.add("password=" + encoded(password));
    }
    all.addAll(parameters);
    return hosts + database + "?" + String.join("&", all);
  }

  /** Runs statements in autocommit. */
  static void execute(DataSource dataSource, String sql) {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure.getMessage(), failure);
    }
  }

  /** Drops the databases, unless the server has already stopped. */
  private void dropDatabases() {
    try (Connection connection = superuser(database).getConnection();
        Statement statement = connection.createStatement()) {
      for (String name : databases) {
        statement.execute("DROP DATABASE IF EXISTS %s WITH (FORCE)".formatted(name));
      }
    } catch (SQLException gone) {
      // The server has stopped.
    }
  }

  private static PGSimpleDataSource connect(String url) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(url);
    return dataSource;
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
