package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.longrunning.LongRunningOperations;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.store.SetupException;
import io.grpc.BindableService;
import io.grpc.ServerInterceptor;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.grpc.server.autoconfigure.security.GrpcServerSecurityAutoConfiguration;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.GrpcServerFactory;
import org.springframework.grpc.server.exception.GrpcExceptionHandlerInterceptor;
import org.springframework.grpc.server.security.GrpcSecurity;
import org.springframework.grpc.server.service.GrpcServiceDiscoverer;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.util.ClassUtils;

/** Makes the annotated methods of an application's gRPC services idempotent. */
@AutoConfiguration(
    after = IdempotencyStoreAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.grpc.server.autoconfigure.GrpcServerAutoConfiguration",
      "org.springframework.grpc.autoconfigure.server.GrpcServerAutoConfiguration" // Boot 3.5
    })
@ConditionalOnClass(GrpcServerFactory.class)
@ConditionalOnBean(GrpcServiceDiscoverer.class)
@ConditionalOnBooleanProperty(
    prefix = IdempotencyProperties.PREFIX,
    name = "enabled",
    matchIfMissing = true)
@EnableConfigurationProperties(IdempotencyProperties.class)
@Import({
  IdempotencyAutoConfiguration.SecurityConfiguration.class,
  IdempotencyAutoConfiguration.SweeperConfiguration.class
})
public final class IdempotencyAutoConfiguration {
  static final String RECOVERY = "idempotencyRecoveryService";
  static final String OPERATIONS = "idempotencyOperationsService";

  IdempotencyAutoConfiguration() {}

  @Bean
  FoundProcedures idempotencyFoundProcedures(
      ListableBeanFactory beans, IdempotencyProperties properties) {
    return FoundProcedures.in(beans, Set.of(RECOVERY, OPERATIONS), properties.hostTransactions());
  }

  @Bean
  @ConditionalOnMissingBean
  @DependsOnDatabaseInitialization
  IdempotencyInterceptor idempotencyInterceptor(
      IdempotencyProperties properties,
      FoundProcedures found,
      ObjectProvider<CallerResolver> callers,
      ObjectProvider<IdempotencyStore> store,
      ObjectProvider<Shards> shards,
      ObjectProvider<IdempotencyListener> listeners) {
    return new InterceptorSetup(properties, found, callers, store, shards, listeners).build();
  }

  @Bean
  @GlobalServerInterceptor
  RegisteredInterceptor idempotencyRegisteredInterceptor(
      IdempotencyProperties properties,
      IdempotencyInterceptor interceptor,
      FoundProcedures found,
      ObjectProvider<GrpcExceptionHandlerInterceptor> exceptionMapping) {
    return new RegisteredInterceptor(
        interceptor,
        Optional.<ServerInterceptor>ofNullable(exceptionMapping.getIfAvailable()),
        found::describe,
        properties.interceptorOrder());
  }

  @Bean
  ServerDrain idempotencyServerDrain(IdempotencyInterceptor interceptor, Environment environment) {
    return new ServerDrain(interceptor, ServerDrain.grace(environment));
  }

  @Bean
  ChainCheck idempotencyChainCheck(
      ApplicationContext context, FoundProcedures found, ObjectProvider<CallerResolver> callers) {
    return new ChainCheck(context, found, callers);
  }

  @Bean(RECOVERY)
  @ConditionalOnMissingBean(name = RECOVERY)
  @ConditionalOnBooleanProperty(prefix = IdempotencyProperties.PREFIX, name = "services.recovery")
  BindableService idempotencyRecoveryService(IdempotencyInterceptor interceptor) {
    return interceptor.recovery();
  }

  @Bean(OPERATIONS)
  @ConditionalOnMissingBean(name = OPERATIONS)
  @ConditionalOnBooleanProperty(prefix = IdempotencyProperties.PREFIX, name = "services.operations")
  BindableService idempotencyOperationsService(IdempotencyInterceptor interceptor) {
    if (!ClassUtils.isPresent(
        "io.github.grpcidempotency.longrunning.LongRunningOperations", null)) {
      throw new SetupException(
          List.of(
              IdempotencyProperties.PREFIX
                  + ".services.operations is true, but the module that serves"
                  + " google.longrunning.Operations is missing: add"
                  + " grpc-idempotency-long-running-operations"));
    }
    return LongRunningOperations.of(interceptor);
  }

  /**
   * Reads callers from Spring Security, and restores the authentication of calls that continue
   * after a wait. On Boot 3.5, gRPC's {@code Context} does not contain the authentication.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({
    GrpcServerSecurityAutoConfiguration.class,
    GrpcSecurity.class,
    SecurityContext.class
  })
  static class SecurityConfiguration {
    @Bean
    @ConditionalOnMissingBean(CallerResolver.class)
    SecurityCallers idempotencySecurityCallers() {
      return new SecurityCallers();
    }

    @Bean
    SecurityScope idempotencySecurityScope() {
      return new SecurityScope();
    }
  }

  /** Deletes a PostgreSQL store's expired records, unless the application has its own sweeper. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBean(DataSource.class)
  @ConditionalOnMissingBean(ExpirySweeper.class)
  @ConditionalOnBooleanProperty(
      prefix = IdempotencyProperties.PREFIX,
      name = "sweeper.enabled",
      matchIfMissing = true)
  static class SweeperConfiguration {
    @Bean
    @DependsOnDatabaseInitialization
    SweeperLifecycle idempotencySweeperLifecycle(
        IdempotencyProperties properties,
        FoundProcedures found,
        ObjectProvider<IdempotencyStore> store,
        ObjectProvider<IdempotencyListener> listeners) {
      return new SweeperLifecycle(
          () ->
              Optional.ofNullable(store.getIfUnique())
                  .filter(PostgresIdempotencyStore.class::isInstance)
                  .map(PostgresIdempotencyStore.class::cast)
                  .map(swept -> sweeper(properties, swept, listeners)),
          !found.isEmpty());
    }

    private static ExpirySweeper sweeper(
        IdempotencyProperties properties,
        PostgresIdempotencyStore store,
        ObjectProvider<IdempotencyListener> listeners) {
      ExpirySweeper.Builder builder =
          ExpirySweeper.builder(store).interval(properties.sweeper().interval());
      listeners.orderedStream().forEach(builder::listener);
      return builder.build();
    }
  }
}
