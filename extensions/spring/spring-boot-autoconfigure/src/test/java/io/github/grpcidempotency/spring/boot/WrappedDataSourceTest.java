package io.github.grpcidempotency.spring.boot;

import static io.github.grpcidempotency.spring.boot.Runners.bare;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.postgres.IdempotencyDataSource;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/** Which data sources are wrapped, and what becomes of those that are. */
class WrappedDataSourceTest {
  private static final String WRAP = "grpc.idempotency.wrap-data-source=true";

  @Test
  void aDataSourceIsWrappedOnlyIfConfigured() {
    assertWrapped(false);
    assertWrapped(true, WRAP);
  }

  private static void assertWrapped(boolean wrapped, String... properties) {
    runner(One.class)
        .withPropertyValues(properties)
        .run(
            context -> assertThat(isWrapped(context.getBean(DataSource.class))).isEqualTo(wrapped));
  }

  @Test
  void theWrapperLeadsToThePoolWhichIsClosedWithTheContext() {
    runner(One.class)
        .withPropertyValues(WRAP)
        .run(
            context -> {
              HikariDataSource pool =
                  context.getBean(DataSource.class).unwrap(HikariDataSource.class);
              context.close();
              assertThat(pool.isClosed()).isTrue();
            });
  }

  /** Whichever manager has it is the one whose transactions are claims. */
  @Test
  void ofTwoManagersThatOfTheWrappedDataSourceIsUsed() {
    runner(Several.class)
        .withUserConfiguration(ManagerOfMain.class, ManagerOfRecords.class)
        .withPropertyValues(WRAP)
        .run(
            context -> {
              assertThat(context.getBean(PostgresIdempotencyStore.class).bindsThreads()).isTrue();
              assertThat(isWrapped(managed(context.getBean("ofRecords")))).isTrue();
              assertThat(isWrapped(managed(context.getBean("ofMain")))).isFalse();
            });
  }

  @Test
  void ofTwoDataSourcesWithoutAMarkNoneIsWrapped() {
    runner(Unmarked.class)
        .withPropertyValues(WRAP)
        .run(
            context -> {
              assertThat(isWrapped(context.getBean("main", DataSource.class))).isFalse();
              assertThat(isWrapped(context.getBean("other", DataSource.class))).isFalse();
            });
  }

  private static DataSource managed(Object manager) {
    return Objects.requireNonNull(((DataSourceTransactionManager) manager).getDataSource());
  }

  @Test
  void aWrappedDataSourceIsNotWrappedAgain() {
    runner(Own.class)
        .withPropertyValues(WRAP)
        .run(
            context ->
                assertThat(context.getBean(DataSource.class))
                    .isExactlyInstanceOf(IdempotencyDataSource.class));
  }

  private static ApplicationContextRunner runner(Class<?> beans) {
    return bare().withBean(WiringTest.PlainService.class).withUserConfiguration(beans);
  }

  private static boolean isWrapped(DataSource dataSource) throws SQLException {
    return dataSource.isWrapperFor(IdempotencyDataSource.class);
  }

  /** Opens no connection. */
  private static HikariDataSource newPool() {
    return new HikariDataSource();
  }

  @Configuration(proxyBeanMethods = false)
  static class One {
    @Bean
    HikariDataSource dataSource() {
      return newPool();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Several {
    @Bean
    @Primary
    DataSource main() {
      return Runners.unreachable();
    }

    @Bean
    @Qualifier("idempotency")
    DataSource records() {
      return Runners.unreachable();
    }

    @Bean
    DataSource other() {
      return Runners.unreachable();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class ManagerOfMain {
    @Bean
    PlatformTransactionManager ofMain(@Qualifier("main") DataSource main) {
      return new DataSourceTransactionManager(main);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class ManagerOfRecords {
    @Bean
    PlatformTransactionManager ofRecords(@Qualifier("idempotency") DataSource records) {
      return new DataSourceTransactionManager(records);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Unmarked {
    @Bean
    DataSource main() {
      return Runners.unreachable();
    }

    @Bean
    DataSource other() {
      return Runners.unreachable();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Own {
    @Bean
    DataSource dataSource() {
      return new IdempotencyDataSource(Runners.unreachable());
    }
  }
}
