package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.micrometer.DatabaseMetrics;
import io.github.grpcidempotency.micrometer.IdempotencyMetrics;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.OperationStore;
import io.micrometer.core.instrument.MeterRegistry;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;

/** Adds metrics if the library's module for Micrometer is on the class path. */
@AutoConfiguration(
    before = IdempotencyAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration",
      // The same in Boot 3.5
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
      "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration"
    })
@ConditionalOnClass({IdempotencyMetrics.class, MeterRegistry.class})
@ConditionalOnSingleCandidate(MeterRegistry.class)
@ConditionalOnBooleanProperty(
    prefix = IdempotencyProperties.PREFIX,
    name = "enabled",
    matchIfMissing = true)
@EnableConfigurationProperties(IdempotencyProperties.class)
public final class IdempotencyMetricsAutoConfiguration {
  IdempotencyMetricsAutoConfiguration() {}

  @Bean
  @ConditionalOnMissingBean
  IdempotencyMetrics idempotencyMetrics(MeterRegistry registry) {
    return IdempotencyMetrics.builder(registry).build();
  }

  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnBean(DataSource.class)
  @DependsOnDatabaseInitialization
  DatabaseMetrics idempotencyDatabaseMetrics(
      IdempotencyProperties properties,
      MeterRegistry registry,
      ConfigurableListableBeanFactory beans,
      ObjectProvider<IdempotencyStore> stores,
      ObjectProvider<FoundProcedures> procedures) {
    DatabaseMetrics.Builder metrics =
        DatabaseMetrics.builder(registry, new HostBeans(beans).dataSource(), properties.schema());
    if (stores.getIfUnique() instanceof OperationStore store) {
      procedures.ifAvailable(found -> metrics.work(store, found.procedures()));
    }
    return metrics.start();
  }
}
