package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import java.io.Closeable;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** What each way of getting no connection means, with the driver alone and through a pool. */
class ConnectFailuresTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String SILENT = "connectTimeout=1&socketTimeout=1";
  private static final long PATIENCE_MILLIS = 300;

  @BeforeAll
  static void restrict() {
    execute(
        "CREATE ROLE no_login NOLOGIN",
        "CREATE ROLE no_room LOGIN CONNECTION LIMIT 0",
        "CREATE ROLE no_right LOGIN",
        "CREATE ROLE reader LOGIN",
        "ALTER ROLE reader SET default_transaction_read_only = on",
        "REVOKE CONNECT ON DATABASE %s FROM PUBLIC".formatted(database.name()),
        "GRANT CONNECT ON DATABASE %s TO things_app, reader".formatted(database.name()));
  }

  @AfterAll
  static void remove() {
    execute("DROP ROLE no_login", "DROP ROLE no_room", "DROP ROLE no_right");
    execute("REVOKE CONNECT ON DATABASE %s FROM reader".formatted(database.name()));
    execute("DROP ROLE reader");
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          # how,                           by the driver,  by a pool that waits for less
          nobody listens,                  NO_CONNECTION,  NO_CONNECTION
          the name is unknown,             NO_CONNECTION,  NO_CONNECTION
          nobody accepts in time,          NO_CONNECTION,  POOL_EXHAUSTED
          somebody accepts and is silent,  NO_LOGIN,       POOL_EXHAUSTED
          somebody accepts and hangs up,   NO_LOGIN,       NO_LOGIN
          the role may not log in,         NO_LOGIN,       NO_LOGIN
          the role does not exist,         NO_LOGIN,       NO_LOGIN
          the role may not connect,        NO_LOGIN,       NO_LOGIN
          the database does not exist,     NO_LOGIN,       NO_LOGIN
          there is no encryption,          NO_LOGIN,       NO_LOGIN
          there is no such server,         NO_LOGIN,       NO_LOGIN
          no server is a primary,          NO_PRIMARY,     NO_PRIMARY
          the role has no connection left, POOL_EXHAUSTED, POOL_EXHAUSTED
          """)
  void onlyADatabaseThatAcceptsNoConnectionIsOutOfReach(
      String how, FailureCause byDriver, FailureCause byPool) throws Exception {
    try (Obstacle obstacle = Obstacle.of(how)) {
      assertThat(causeOf(obstacle.driver())).isEqualTo(byDriver);
      try (HikariDataSource pool = pool(obstacle.driver())) {
        assertThat(causeOf(pool)).isEqualTo(byPool);
      }
    }
  }

  @Test
  void aPoolWithAConnectionInUseIsExhaustedEvenIfItCanMakeNoOther() throws SQLException {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource pool = pool(at(proxy.jdbcUrl()));
        Connection used = pool.getConnection()) {
      proxy.refuseNew();

      assertThat(causeOf(pool)).isEqualTo(FailureCause.POOL_EXHAUSTED);
      assertThat(used.isValid(1)).isTrue();
    }
  }

  @Test
  void aPoolThatReportsItsSizeInAnotherFormatIsNotAnOutage() throws IOException {
    try (Obstacle closed = Obstacle.nobodyListens()) {
      SQLException refused =
          catchThrowableOfType(SQLException.class, closed.driver()::getConnection);
      SQLException waited =
          new SQLTransientConnectionException("no connection came", "08001", refused);

      assertThat(causeOf(failing(closed.url(), refused))).isEqualTo(FailureCause.NO_CONNECTION);
      assertThat(causeOf(failing(closed.url(), waited))).isEqualTo(FailureCause.POOL_EXHAUSTED);
    }
  }

  /** A pool throws the failure of its latest attempt, which may have been seconds ago. */
  @Test
  void anOldRefusalOfAHostThatAcceptsConnectionsAgainIsNotAnOutage() throws IOException {
    try (Obstacle closed = Obstacle.nobodyListens()) {
      SQLException refused =
          catchThrowableOfType(SQLException.class, closed.driver()::getConnection);
      SQLException waited =
          new SQLTransientConnectionException("(total=0, active=0)", "08001", refused);

      assertThat(causeOf(failing(closed.url(), waited))).isEqualTo(FailureCause.NO_CONNECTION);
      assertThat(causeOf(failing(database.appUrl(), waited))).isEqualTo(FailureCause.NO_LOGIN);
    }
  }

  @Test
  void aPoolWhoseHostsAreUnknownHasNoOutage() throws IOException {
    try (Obstacle closed = Obstacle.nobodyListens()) {
      SQLException refused =
          catchThrowableOfType(SQLException.class, closed.driver()::getConnection);
      DataSource unknown =
          (DataSource)
              Proxy.newProxyInstance(
                  getClass().getClassLoader(),
                  new Class<?>[] {DataSource.class},
                  (self, method, arguments) -> {
                    if (method.getName().equals("getConnection")) {
                      throw refused;
                    }
                    return false;
                  });
      String viaFactory = closed.url() + "&socketFactory=javax.net.DefaultSocketFactory";

      assertThat(causeOf(unknown)).isEqualTo(FailureCause.NO_LOGIN);
      assertThat(causeOf(at(viaFactory))).isEqualTo(FailureCause.NO_LOGIN);
    }
  }

  private static FailureCause causeOf(DataSource source) {
    ClaimRequest request = Things.claimOf(UUID.randomUUID(), Things.CREATE_THING);
    return catchThrowableOfType(
            StoreException.class,
            () ->
                PostgresIdempotencyStore.builder(source).connections(source).build().claim(request))
        .failureCause();
  }

  /** Returns a pool of a URL that gives no connection. */
  private static DataSource failing(String url, SQLException failure) {
    PGSimpleDataSource source =
        new PGSimpleDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            throw failure;
          }
        };
    source.setUrl(url);
    return source;
  }

  private static HikariDataSource pool(DataSource driver) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(driver);
    config.setMaximumPoolSize(4);
    config.setConnectionTimeout(PATIENCE_MILLIS);
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  private static PGSimpleDataSource at(String url) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(url);
    return source;
  }

  private static void execute(String... statements) {
    database.superuser().useHandle(handle -> List.of(statements).forEach(handle::execute));
  }

  /** Something that keeps a driver from connecting. */
  private record Obstacle(PGSimpleDataSource driver, List<Closeable> opened)
      implements AutoCloseable {
    static Obstacle of(String how) throws IOException {
      return switch (how) {
        case "nobody listens" -> nobodyListens();
        case "the name is unknown" -> to("no-such-host.invalid:5432", "");
        case "nobody accepts in time" -> full();
        case "somebody accepts and is silent" -> {
          ServerSocket silent = new ServerSocket(0);
          yield at(silent, List.of(silent));
        }
        case "somebody accepts and hangs up" -> {
          ServerSocket listening = new ServerSocket(0);
          CompletableFuture<Void> unused = CompletableFuture.runAsync(() -> hangUp(listening));
          yield at(listening, List.of(listening));
        }
        case "the role may not log in" -> as("no_login");
        case "the role does not exist" -> as("nobody_known");
        case "the role may not connect" -> as("no_right");
        case "the role has no connection left" -> as("no_room");
        case "the database does not exist" ->
            on(database.appUrl().replace(database.name(), "no_such_database"));
        case "there is no encryption" -> on(database.appUrl() + "&sslmode=require");
        case "no server is a primary" ->
            on(database.appUrl().replace("things_app", "reader") + "&targetServerType=primary");
        case "there is no such server" -> on(database.appUrl() + "&targetServerType=secondary");
        default -> throw new IllegalArgumentException(how);
      };
    }

    String url() {
      return driver.getUrl();
    }

    static Obstacle nobodyListens() throws IOException {
      try (ServerSocket closed = new ServerSocket(0)) {
        return to("localhost:" + closed.getLocalPort(), "");
      }
    }

    /** A queue of connections that is full takes no more, and does not refuse them either. */
    private static Obstacle full() throws IOException {
      ServerSocket queue = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      List<Closeable> opened = new ArrayList<>(List.of(queue));
      try {
        while (true) {
          Socket waiting = new Socket();
          opened.add(waiting);
          waiting.connect(new InetSocketAddress(queue.getInetAddress(), queue.getLocalPort()), 100);
        }
      } catch (SocketTimeoutException full) {
        return at(queue, opened);
      }
    }

    private static void hangUp(ServerSocket listening) {
      try {
        while (true) {
          listening.accept().close();
        }
      } catch (IOException closed) {
        // the end of the test
      }
    }

    private static Obstacle at(ServerSocket listening, List<Closeable> opened) {
      return new Obstacle(
          ConnectFailuresTest.at(
              "jdbc:postgresql://127.0.0.1:%d/app?%s".formatted(listening.getLocalPort(), SILENT)),
          opened);
    }

    private static Obstacle to(String address, String settings) {
      return on("jdbc:postgresql://%s/app?%s".formatted(address, settings));
    }

    private static Obstacle as(String role) {
      return on(database.appUrl().replace("things_app", role));
    }

    private static Obstacle on(String url) {
      return new Obstacle(ConnectFailuresTest.at(url), List.of());
    }

    @Override
    public void close() throws IOException {
      for (Closeable each : opened) {
        each.close();
      }
    }
  }
}
