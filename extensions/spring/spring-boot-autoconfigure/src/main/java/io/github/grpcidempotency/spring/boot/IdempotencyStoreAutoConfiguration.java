package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spring.JoinedAttributes;
import io.github.grpcidempotency.spring.SpringTransactions;
import io.github.grpcidempotency.store.SetupException;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;

/**
 * Creates the library's store on the application's data source, and migrates its schema. Also works
 * without a gRPC server, for work that does not arrive by gRPC.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.XADataSourceAutoConfiguration",
      "org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
      "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
      "org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration",
      "org.springframework.boot.transaction.jta.autoconfigure.JtaAutoConfiguration",
      // The same in Boot 3.5
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
      "org.springframework.boot.autoconfigure.jdbc.XADataSourceAutoConfiguration",
      "org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration",
      "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration",
      "org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration",
      "org.springframework.boot.autoconfigure.transaction.jta.JtaAutoConfiguration"
    })
@ConditionalOnBooleanProperty(
    prefix = IdempotencyProperties.PREFIX,
    name = "enabled",
    matchIfMissing = true)
@EnableConfigurationProperties(IdempotencyProperties.class)
@Import(IdempotencyStoreAutoConfiguration.OrderConfiguration.class)
public final class IdempotencyStoreAutoConfiguration {
  IdempotencyStoreAutoConfiguration() {}

  @Bean
  @ConditionalOnBean(DataSource.class)
  @ConditionalOnProperty(prefix = IdempotencyProperties.PREFIX, name = "migration.username")
  static SchemaMigration idempotencySchemaMigration(
      IdempotencyProperties properties, ConfigurableListableBeanFactory beans) {
    return new SchemaMigration(properties, () -> new HostBeans(beans).dataSource());
  }

  /**
   * Spring sorts advice of the same order by the order of declaration, so this advice runs inside
   * Spring's own.
   */
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static JoinedAttributes idempotencyJoinedAttributes() {
    return new JoinedAttributes();
  }

  /** Created lazily, so that a service without procedures needs no database. */
  @Bean
  @Lazy
  @ConditionalOnBean(DataSource.class)
  @ConditionalOnMissingBean({IdempotencyStore.class, Shards.class})
  PostgresIdempotencyStore idempotencyStore(
      IdempotencyProperties properties,
      ConfigurableListableBeanFactory beans,
      ObjectProvider<HostTransactions> transactions,
      ObjectProvider<SchemaMigration> migration) {
    migration.ifAvailable(migrated -> {});
    HostBeans host = new HostBeans(beans);
    DataSource dataSource = host.dataSource();
    PostgresIdempotencyStore.Builder builder =
        PostgresIdempotencyStore.builder(dataSource)
            .schema(properties.schema())
            .lease(properties.lease());
    hostTransactions(properties, host, dataSource, transactions)
        .ifPresent(builder::hostTransactions);
    host.connections().ifPresent(builder::connections);
    return builder.build();
  }

  private static Optional<HostTransactions> hostTransactions(
      IdempotencyProperties properties,
      HostBeans host,
      DataSource dataSource,
      ObjectProvider<HostTransactions> given) {
    Optional<HostTransactions> bean = Optional.ofNullable(given.getIfAvailable());
    if (!properties.hostTransactions()) {
      if (bean.isPresent()) {
        throw new SetupException(
            List.of(
                "grpc.idempotency.host-transactions is false, but there is a HostTransactions"
                    + " bean: remove the bean, or the property"));
      }
      return Optional.empty();
    }
    return bean.or(
        () ->
            host.transactionManager(dataSource)
                .map(manager -> SpringTransactions.of(manager, dataSource)));
  }

  /**
   * Adds the ordering of beans that initialize the database, which is also needed without Flyway
   * and JPA.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(DatabaseInitializationDependencyConfigurer.class)
  @Import(DatabaseInitializationDependencyConfigurer.class)
  static class OrderConfiguration {}
}
