package io.github.grpcidempotency.spring.boot;

import static io.github.grpcidempotency.spring.boot.Runners.bare;
import static io.github.grpcidempotency.spring.boot.Runners.complete;
import static io.github.grpcidempotency.spring.boot.Runners.withService;
import static io.github.grpcidempotency.spring.boot.Runners.without;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.micrometer.DatabaseMetrics;
import io.github.grpcidempotency.micrometer.IdempotencyMetrics;
import io.github.grpcidempotency.opentelemetry.OpenTelemetryListener;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.StatusResolver;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ObjectAssert;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;

/** What is there under which condition. */
class WiringTest {
  private static final String CREATE_THING =
      ThingServiceGrpc.getCreateThingMethod().getFullMethodName();
  private static final String CREATE_OTHER =
      ThingServiceGrpc.getCreateOtherMethod().getFullMethodName();

  @Test
  void annotatedMethodsOfBoundServicesAreFound() {
    complete()
        .run(
            context ->
                assertThat(context.getBean(FoundProcedures.class).procedures().all())
                    .extracting(Procedure::name)
                    .containsExactly(CREATE_THING));
  }

  @Test
  void aDescriptorInJavaGoesBeforeTheOptionOfItsMethod() {
    complete()
        .withBean(
            Procedure.class,
            () ->
                Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
                    .keyPolicy(KeyPolicy.REQUIRED)
                    .build())
        .withBean(
            Procedures.class,
            () ->
                Procedures.of(
                    Procedure.of(ThingServiceGrpc.getCreateOtherMethod())
                        .execution(Execution.RESERVED)
                        .build()))
        .run(
            context -> {
              Procedures found = context.getBean(FoundProcedures.class).procedures();
              assertThat(found.find(CREATE_THING).orElseThrow().keyPolicy())
                  .isEqualTo(KeyPolicy.REQUIRED);
              assertThat(found.find(CREATE_OTHER)).isPresent();
            });
  }

  @Test
  void aTransactionalHandlerWhoseOptionNamesNoExecutionIsTransactional() {
    DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    beans.registerSingleton("service", new UndecidedService.Joining());
    try (LogLines log = LogLines.listen()) {
      Procedures procedures = FoundProcedures.in(beans, Set.of(), true).procedures();

      assertThat(procedures.find(CREATE_THING).orElseThrow().execution())
          .isEqualTo(Execution.TRANSACTIONAL);
      assertThat(log.all())
          .anyMatch(
              line ->
                  line.contains(
                      "the execution of this procedure is TRANSACTIONAL, because its handler is"));
    }
  }

  @Test
  void aTransactionalHelperWithTheNameOfAHandlerChoosesNoExecution() {
    DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    beans.registerSingleton("service", new UndecidedService.Overloaded());

    FoundProcedures found = FoundProcedures.in(beans, Set.of(), true);

    assertThat(found.procedures().problems())
        .anyMatch(problem -> problem.contains("it has no execution"));
  }

  @Test
  void aStatusResolverIsOfTheResourceTypeAfterWhichItIsNamed() {
    StatusResolver resolver = id -> IdempotencyStatus.COMPLETED;
    complete()
        .withBean("thing", StatusResolver.class, () -> resolver)
        .run(
            context ->
                assertThat(
                        context
                            .getBean(FoundProcedures.class)
                            .procedures()
                            .find(CREATE_THING)
                            .orElseThrow()
                            .statusSource())
                    .containsSame(resolver));
  }

  @Test
  void withoutAnyProcedureTheStartSucceedsWithAWarning() {
    try (LogLines log = LogLines.listen()) {
      bare()
          .withBean(PlainService.class)
          .withBean(DataSource.class, Runners::unreachable)
          .run(
              context -> {
                assertThat(context).hasNotFailed().hasSingleBean(IdempotencyInterceptor.class);
                assertThat(context.getBean(SweeperLifecycle.class).isRunning()).isFalse();
              });
      assertThat(log.warnings()).anyMatch(line -> line.contains("no call is idempotent"));
    }
  }

  @Test
  void itCanBeSwitchedOff() {
    complete()
        .withPropertyValues("grpc.idempotency.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(IdempotencyInterceptor.class)
                    .doesNotHaveBean(SchemaMigration.class)
                    .doesNotHaveBean(HealthIndicator.class));
  }

  @Test
  void aShardsBeanTakesThePlaceOfTheStore() {
    withService()
        .withBean(CallerResolver.class, () -> Optional::empty)
        .withBean(DataSource.class, Runners::unreachable)
        .withBean(
            Shards.class,
            () ->
                Shards.of(
                    Map.of("east", new InMemoryIdempotencyStore()), caller -> Optional.of("east")))
        .run(
            context -> {
              assertThat(context)
                  .hasNotFailed()
                  .hasSingleBean(IdempotencyInterceptor.class)
                  .doesNotHaveBean(IdempotencyStore.class);
              assertThat(context.getBean(StoreHealth.class).health().getStatus())
                  .isEqualTo(Status.UP);
            });
  }

  /** Otherwise a platform would stop the calls that the procedure lets run. */
  @Test
  void duringAnOutageTheServiceIsUpIfAProcedureFailsOpen() {
    assertHealth(FailureCause.NO_CONNECTION, OutagePolicy.FAIL_OPEN)
        .returns(Status.UP, Health::getStatus)
        .extracting(Health::getDetails, InstanceOfAssertFactories.MAP)
        .containsEntry("cause", FailureCause.NO_CONNECTION)
        .containsEntry("unprotected", List.of(CREATE_THING));
    assertHealth(FailureCause.NO_CONNECTION, OutagePolicy.FAIL_CLOSED)
        .returns(Status.DOWN, Health::getStatus);
    assertHealth(FailureCause.BROKEN, OutagePolicy.FAIL_OPEN)
        .returns(Status.DOWN, Health::getStatus);
  }

  private static ObjectAssert<Health> assertHealth(FailureCause cause, OutagePolicy policy) {
    AtomicReference<Health> health = new AtomicReference<>();
    InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore();
    IdempotencyStore failing =
        (IdempotencyStore)
            Proxy.newProxyInstance(
                WiringTest.class.getClassLoader(),
                new Class<?>[] {IdempotencyStore.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("find")) {
                    throw StoreException.of(FailurePhase.NOTHING_SENT, cause, "on purpose");
                  }
                  return method.invoke(memory, arguments);
                });
    withService()
        .withBean(CallerResolver.class, () -> Optional::empty)
        .withBean(IdempotencyStore.class, () -> failing)
        .withBean(
            Procedure.class,
            () ->
                Procedure.annotated(ThingServiceGrpc.getCreateThingMethod()).outage(policy).build())
        .run(context -> health.set(context.getBean(StoreHealth.class).health()));
    return assertThat(Objects.requireNonNull(health.get()));
  }

  @Test
  void theGraceIsShorterThanThatOfThePlatformUnlessTheServerHasOne() {
    assertThat(ServerDrain.grace(with(Map.of()))).isEqualTo(Duration.ofSeconds(25));
    assertThat(ServerDrain.grace(with(Map.of("spring.grpc.server.shutdown-grace-period", "7"))))
        .isEqualTo(Duration.ofSeconds(7));
    assertThat(ServerDrain.grace(with(Map.of("spring.grpc.server.shutdown.grace-period", "1m"))))
        .isEqualTo(Duration.ofMinutes(1));
  }

  private static Environment with(Map<String, Object> properties) {
    StandardEnvironment environment = new StandardEnvironment();
    environment.getPropertySources().addFirst(new MapPropertySource("test", properties));
    return environment;
  }

  @Test
  void withoutAServerOnlyTheStoreIsThere() {
    complete()
        .withPropertyValues("spring.grpc.server.enabled=false")
        .withBean("records", DataSource.class, Runners::unreachable)
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(IdempotencyStore.class)
                    .doesNotHaveBean(IdempotencyInterceptor.class)
                    .doesNotHaveBean(SweeperLifecycle.class));
  }

  @Test
  void withoutSpringsGrpcOnlyTheStoreIsThere() {
    complete()
        .withClassLoader(without("org.springframework.grpc.server"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(IdempotencyInterceptor.class)
                    .hasSingleBean(IdempotencyStore.class));
  }

  @Test
  void anInterceptorOfTheApplicationIsRegisteredInsteadOfOurs() {
    IdempotencyInterceptor own =
        IdempotencyInterceptor.builder(Procedures.of(), Optional::empty).withoutStore().build();
    complete()
        .withBean(IdempotencyInterceptor.class, () -> own)
        .run(
            context -> {
              assertThat(context.getBean(IdempotencyInterceptor.class)).isSameAs(own);
              assertThat(context).hasSingleBean(RegisteredInterceptor.class);
            });
  }

  @Test
  void whatNothingRequiresIsNotThere() {
    complete()
        .run(
            context -> {
              assertThat(context.getBeansOfType(BindableService.class).keySet())
                  .doesNotContain("idempotencyRecoveryService", "idempotencyOperationsService");
              assertThat(context)
                  .doesNotHaveBean(SecurityCallers.class)
                  .hasSingleBean(SecurityScope.class)
                  .doesNotHaveBean(SweeperLifecycle.class)
                  .doesNotHaveBean(IdempotencyMetrics.class)
                  .doesNotHaveBean(OpenTelemetryListener.class)
                  .hasBean("idempotencyHealthContributor");
            });
  }

  @Test
  void withoutOptionalLibrariesNothingBreaks() {
    complete()
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .withBean(OpenTelemetry.class, OpenTelemetry::noop)
        .withClassLoader(
            without(
                "io.github.grpcidempotency.micrometer",
                "io.github.grpcidempotency.opentelemetry",
                "org.springframework.boot.health",
                "org.springframework.boot.sql",
                "org.springframework.security"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean("idempotencyMetrics")
                    .doesNotHaveBean("idempotencyOpenTelemetryListener")
                    .doesNotHaveBean("idempotencyHealthContributor")
                    .doesNotHaveBean(SecurityScope.class));
  }

  @Test
  void operationsCannotBeServedWithoutTheirModule() {
    complete()
        .withPropertyValues("grpc.idempotency.services.operations=true")
        .withClassLoader(without("io.github.grpcidempotency.longrunning"))
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("add grpc-idempotency-long-running-operations"));
  }

  @Test
  void partsAreThereOnRequest() {
    complete()
        .withPropertyValues(
            "grpc.idempotency.services.recovery=true",
            "grpc.idempotency.services.operations=true",
            "management.health.idempotency.enabled=false")
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .withBean(OpenTelemetry.class, OpenTelemetry::noop)
        .run(
            context -> {
              assertThat(context.getBeansOfType(BindableService.class).keySet())
                  .contains("idempotencyRecoveryService", "idempotencyOperationsService");
              assertThat(context)
                  .hasSingleBean(IdempotencyMetrics.class)
                  .doesNotHaveBean(DatabaseMetrics.class)
                  .hasSingleBean(OpenTelemetryListener.class)
                  .doesNotHaveBean("idempotencyHealthContributor");
            });
  }

  @Test
  void callersComeFromSpringSecurityUnlessThereIsACallerResolver() {
    bare().run(context -> assertThat(context).doesNotHaveBean(CallerResolver.class));
    bare()
        .withBean(PlainService.class)
        .run(context -> assertThat(context).hasSingleBean(SecurityCallers.class));
  }

  @Test
  void theSweeperRunsWhileTheContextDoesUnlessThereIsAnother() {
    withService()
        .withBean(
            IdempotencyInterceptor.class,
            () ->
                IdempotencyInterceptor.builder(
                        Procedures.builder()
                            .addAnnotated(ThingServiceGrpc.getServiceDescriptor())
                            .build(),
                        Optional::empty)
                    .withoutStore()
                    .build())
        .withBean(CallerResolver.class, () -> Optional::empty)
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .withBean(DataSource.class, Runners::unreachable)
        .run(
            context -> {
              assertThat(context).hasSingleBean(DatabaseMetrics.class);
              SweeperLifecycle sweeper = context.getBean(SweeperLifecycle.class);
              assertThat(sweeper.isRunning()).isTrue();
              assertThat(sweeper.getPhase())
                  .isLessThan(context.getBean(GrpcServerLifecycle.class).getPhase());
              context.stop();
              assertThat(sweeper.isRunning()).isFalse();
              context.start();
              assertThat(sweeper.isRunning()).isTrue();
            });
    complete()
        .withBean(DataSource.class, Runners::unreachable)
        .withPropertyValues("grpc.idempotency.sweeper.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(SweeperLifecycle.class));
    complete()
        .withBean(DataSource.class, Runners::unreachable)
        .withBean(
            ExpirySweeper.class,
            () ->
                ExpirySweeper.builder(
                        PostgresIdempotencyStore.builder(Runners.unreachable()).build())
                    .build())
        .run(context -> assertThat(context).doesNotHaveBean(SweeperLifecycle.class));
  }

  @Test
  void theMigrationRunsOnlyIfItsRoleIsNamed() {
    withService()
        .withBean(DataSource.class, Runners::unreachable)
        .withPropertyValues("spring.grpc.server.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(SchemaMigration.class));
  }

  static class PlainService implements BindableService {
    @Override
    public ServerServiceDefinition bindService() {
      return ServerServiceDefinition.builder("plain").build();
    }
  }
}
