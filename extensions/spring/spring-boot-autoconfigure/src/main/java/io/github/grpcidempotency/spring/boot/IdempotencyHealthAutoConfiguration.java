package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.IdempotencyStore;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Contributes the health of the store. */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass({HealthContributor.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(FoundProcedures.class)
public final class IdempotencyHealthAutoConfiguration {
  IdempotencyHealthAutoConfiguration() {}

  @Bean
  @ConditionalOnEnabledHealthIndicator("idempotency")
  @ConditionalOnMissingBean(name = "idempotencyHealthContributor")
  HealthIndicator idempotencyHealthContributor(
      FoundProcedures found,
      ObjectProvider<IdempotencyStore> store,
      ObjectProvider<Shards> shards) {
    return new StoreHealth(found, store, shards);
  }
}
