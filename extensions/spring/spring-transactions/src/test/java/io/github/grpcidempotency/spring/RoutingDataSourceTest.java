package io.github.grpcidempotency.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.store.SetupException;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** The store's statements serve several calls, so no thread's context may choose the database. */
class RoutingDataSourceTest {
  private final HikariDataSource pool = new HikariDataSource();

  @Test
  void aDataSourceThatChoosesADatabaseForEachThreadIsRefused() {
    DataSource routing = routing();
    assertRefused(PostgresIdempotencyStore.builder(routing));
    assertRefused(PostgresIdempotencyStore.builder(new LazyConnectionDataSourceProxy(routing)));
    assertRefused(PostgresIdempotencyStore.builder(pool).connections(routing));
  }

  @Test
  void theStoreDerivesItsConnectionsFromThePoolBehindSpringsProxies() {
    try (PostgresIdempotencyStore store =
        PostgresIdempotencyStore.builder(new TransactionAwareDataSourceProxy(pool)).build()) {
      assertThat(store.lease()).isPositive();
    }
  }

  private static void assertRefused(PostgresIdempotencyStore.Builder store) {
    assertThatThrownBy(store::build)
        .isInstanceOf(SetupException.class)
        .hasMessageContaining("chooses a database for each thread")
        .hasMessageContaining("Shards");
  }

  private DataSource routing() {
    AbstractRoutingDataSource routing =
        new AbstractRoutingDataSource() {
          @Override
          protected Object determineCurrentLookupKey() {
            return "east";
          }
        };
    routing.setTargetDataSources(Map.of("east", pool));
    routing.afterPropertiesSet();
    return routing;
  }
}
