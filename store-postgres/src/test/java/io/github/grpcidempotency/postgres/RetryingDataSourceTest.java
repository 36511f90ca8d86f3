package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
class RetryingDataSourceTest {
  private static final int LONGER_THAN_THE_TEST = 600;

  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  @Test
  void aFailedAttemptIsRetriedUntilTheThreadIsInterrupted() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String url = "jdbc:postgresql://127.0.0.1:%d/none".formatted(server.getLocalPort());
      CompletableFuture<SQLException> failure = new CompletableFuture<>();
      Thread caller = new Thread(() -> failure.complete(failure(source(url))));
      caller.start();

      server.accept().close();
      server.accept().close();
      caller.interrupt();

      assertThat(failure).succeedsWithin(Duration.ofSeconds(30));
    }
  }

  @Test
  void aRefusedLoginIsNotRetried() {
    assertThat(failure(source(database.appUrl() + "&user=no_such_role")).getSQLState())
        .startsWith("28");
  }

  @Test
  void aPoolUsesItByItsClassName() throws SQLException {
    HikariConfig config = new HikariConfig();
    config.setDataSourceClassName(RetryingDataSource.class.getName());
    config.addDataSourceProperty("url", database.appUrl());
    config.setMaximumPoolSize(1);
    try (HikariDataSource pool = new HikariDataSource(config);
        Connection connection = pool.getConnection()) {
      assertThat(connection.isValid(1)).isTrue();
    }
  }

  private static RetryingDataSource source(String url) {
    RetryingDataSource source = new RetryingDataSource();
    source.setUrl(url);
    source.setLoginTimeout(LONGER_THAN_THE_TEST);
    return source;
  }

  private static SQLException failure(RetryingDataSource source) {
    return catchThrowableOfType(SQLException.class, source::getConnection);
  }
}
