package io.github.grpcidempotency.spring.boot;

import static io.github.grpcidempotency.spring.boot.Runners.assertProblems;
import static io.github.grpcidempotency.spring.boot.Runners.bare;
import static io.github.grpcidempotency.spring.boot.Runners.complete;
import static io.github.grpcidempotency.spring.boot.Runners.withService;
import static io.github.grpcidempotency.spring.boot.Runners.without;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.StatusResolver;
import io.github.grpcidempotency.spring.SpringTransactions;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerFactoryCustomizer;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.grpc.server.DefaultGrpcServerFactory;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.exception.GrpcExceptionHandler;
import org.springframework.grpc.server.security.AuthenticationProcessInterceptor;
import org.springframework.grpc.server.service.GrpcService;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/** The problems that stop a start, and the descriptions that the user reads. */
class SetupFailuresTest {

  @Test
  void allProblemsAreListedTogether() {
    withService()
        .withClassLoader(without("org.springframework.security"))
        .withBean("order", StatusResolver.class, () -> id -> IdempotencyStatus.COMPLETED)
        .withBean(Procedure.class, SetupFailuresTest::unbound)
        .run(
            context -> {
              assertProblems(context)
                  .satisfiesExactly(
                      problem -> assertThat(problem).contains("is for no resource type"),
                      problem -> assertThat(problem).contains("no bound service has this method"),
                      problem -> assertThat(problem).contains("the caller of a call is unknown"),
                      problem -> assertThat(problem).contains("nowhere to record calls"));
              assertThat(analysis(context).getDescription()).contains("  1. ", "  4. ");
            });
  }

  private static Procedure unbound() {
    return Procedure.of(
            ThingServiceGrpc.getCreateOtherMethod().toBuilder()
                .setFullMethodName("other.v1.Others/CreateOther")
                .build())
        .execution(Execution.RESERVED)
        .build();
  }

  @Test
  void aHandlerWithoutAnExecutionThatDoesNotJoinIsAProblem() {
    for (Class<? extends UndecidedService> service :
        List.of(UndecidedService.Plain.class, UndecidedService.OfItsOwn.class)) {
      complete().withBean(service).run(oneProblem("CreateThing: it has no execution"));
    }
    complete()
        .withBean(UndecidedService.Joining.class)
        .withPropertyValues("grpc.idempotency.host-transactions=false")
        .run(oneProblem("no execution"));
  }

  @Test
  void aMethodThatIsDescribedTwiceIsAProblem() {
    Procedure other =
        Procedure.of(ThingServiceGrpc.getCreateOtherMethod()).execution(Execution.RESERVED).build();
    complete()
        .withBean(Procedures.class, () -> Procedures.of(other, other))
        .run(oneProblem("it has two descriptors: remove one of them"));
  }

  @Test
  void twoResolversOfOneTypeAreAProblem() {
    complete()
        .withBean("thing", StatusResolver.class, () -> id -> IdempotencyStatus.COMPLETED)
        .withUserConfiguration(AnotherResolver.class)
        .run(
            context ->
                assertProblems(context)
                    .singleElement()
                    .asString()
                    .contains("several StatusSource beans", "\"thing\": thing, ofThings"));
  }

  @Configuration(proxyBeanMethods = false)
  static class AnotherResolver {
    @Bean
    @Qualifier("thing")
    StatusResolver ofThings() {
      return id -> IdempotencyStatus.FAILED;
    }
  }

  @Test
  void severalCallerResolversNeedAPrimaryOne() {
    complete()
        .withBean("another", CallerResolver.class, () -> Optional::empty)
        .run(oneProblem("there are several CallerResolver beans"));
  }

  @Test
  void ofSeveralDataSourcesOneIsMarked() {
    withDataSources(Unmarked.class)
        .run(
            oneProblem(
                "several DataSource beans, one, two, and none is marked with"
                    + " @Qualifier(\"idempotency\")"));
    withDataSources(Unmarked.class, MarkedPrimary.class).run(context -> assertReached(context));
    withDataSources(Unmarked.class, MarkedPrimary.class, MarkedByQualifier.class)
        .run(context -> assertReached(context));
  }

  /** Returns an assertion that the start has failed of one problem, whose text contains these. */
  private static ContextConsumer<AssertableApplicationContext> oneProblem(String... texts) {
    return context -> assertProblems(context).singleElement().asString().contains(texts);
  }

  /** The store was made, and tried to reach its database. */
  private static void assertReached(AssertableApplicationContext context) {
    assertThat(context.getStartupFailure()).hasStackTraceContaining("StoreException");
    assertThat(analysis(context).getDescription()).contains("could not be checked (NO_CONNECTION)");
    assertThat(analysis(context).getAction()).contains("Check that the database is running");
  }

  private static ApplicationContextRunner withDataSources(Class<?>... configurations) {
    return withService()
        .withBean(CallerResolver.class, () -> Optional::empty)
        .withUserConfiguration(configurations);
  }

  @Configuration(proxyBeanMethods = false)
  static class Unmarked {
    @Bean
    DataSource one() {
      return Runners.unreachable();
    }

    @Bean
    DataSource two() {
      return Runners.unreachable();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class MarkedPrimary {
    @Bean
    @Primary
    DataSource three() {
      return Runners.unreachable();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class MarkedByQualifier {
    @Bean
    @Qualifier("idempotency")
    DataSource four() {
      return Runners.unreachable();
    }
  }

  @Test
  void hostTransactionsUseTheManagerOfTheDataSource() {
    ApplicationContextRunner runner =
        bare().withBean(WiringTest.PlainService.class).withUserConfiguration(Managers.class);
    runner.run(
        context ->
            assertThat(context.getBean(PostgresIdempotencyStore.class).bindsThreads()).isTrue());
    runner
        .withPropertyValues("grpc.idempotency.host-transactions=false")
        .run(
            context ->
                assertThat(context.getBean(PostgresIdempotencyStore.class).bindsThreads())
                    .isFalse());
    runner
        .withBean("second", PlatformTransactionManager.class, Managers::ofNothing)
        .run(
            context ->
                assertThat(context.getBean(PostgresIdempotencyStore.class).bindsThreads())
                    .isTrue());
    runner
        .withPropertyValues("grpc.idempotency.host-transactions=false")
        .withBean(HostTransactions.class, Managers::transactions)
        .run(
            context ->
                assertThat(catchProblem(() -> context.getBean(PostgresIdempotencyStore.class)))
                    .contains("host-transactions is false"));
    bare()
        .withBean(WiringTest.PlainService.class)
        .withBean(DataSource.class, Runners::unreachable)
        .withBean(PlatformTransactionManager.class, Managers::ofNothing)
        .run(
            context ->
                assertThat(catchProblem(() -> context.getBean(PostgresIdempotencyStore.class)))
                    .contains("no transaction manager manages the data source of the records"));
    runner
        .withUserConfiguration(SecondManager.class)
        .run(
            context ->
                assertThat(catchProblem(() -> context.getBean(PostgresIdempotencyStore.class)))
                    .contains("several PlatformTransactionManager beans, manager, another"));
  }

  private static String catchProblem(Runnable work) {
    try {
      work.run();
      return "nothing";
    } catch (RuntimeException failure) {
      return String.valueOf(failure.getMessage());
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Managers {
    @Bean
    DataSource records() {
      return Runners.unreachable();
    }

    @Bean
    PlatformTransactionManager manager(DataSource records) {
      return new DataSourceTransactionManager(records);
    }

    /** Manages another database. */
    static PlatformTransactionManager ofNothing() {
      return new DataSourceTransactionManager(Runners.unreachable());
    }

    static HostTransactions transactions() {
      DataSource other = Runners.unreachable();
      return SpringTransactions.of(new DataSourceTransactionManager(other), other);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class SecondManager {
    @Bean
    PlatformTransactionManager another(DataSource records) {
      return new DataSourceTransactionManager(records);
    }
  }

  @Test
  void theMigrationNeedsAUrlAndARole() {
    complete()
        .withBean(DataSource.class, Runners::unreachable)
        .withPropertyValues("grpc.idempotency.migration.username=owner")
        .run(oneProblem("the migration needs a URL"));
    complete()
        .withBean(DataSource.class, Runners::unreachable)
        .withPropertyValues("grpc.idempotency.migration.username=")
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void anInterceptorOutsideOfSpringsExceptionMappingStopsTheStart() {
    complete()
        .withUserConfiguration(Mapping.class)
        .withPropertyValues("grpc.idempotency.interceptor-order=-1")
        .run(oneProblem("GrpcExceptionHandlerInterceptor runs inside", "interceptor-order"));
  }

  @Test
  void lazyInitializationChecksTheOrderToo() {
    complete()
        .withUserConfiguration(Mapping.class)
        .withInitializer(
            context ->
                context.addBeanFactoryPostProcessor(
                    new LazyInitializationBeanFactoryPostProcessor()))
        .withPropertyValues("grpc.idempotency.interceptor-order=-1")
        .run(context -> assertProblems(context).hasSize(1));
  }

  @Test
  void anInterceptorOutsideOfAuthenticationStopsTheStart() {
    complete()
        .withUserConfiguration(LateAuthentication.class)
        .run(oneProblem("AuthenticationProcessInterceptor runs inside"));
  }

  @Configuration(proxyBeanMethods = false)
  static class Mapping {
    @Bean
    GrpcExceptionHandler handler() {
      return exception -> null;
    }
  }

  /** On the service itself, where it comes after all global interceptors. */
  @Configuration(proxyBeanMethods = false)
  static class LateAuthentication {
    @Bean
    AuthenticationProcessInterceptor authentication() {
      return new AuthenticationProcessInterceptor(
          authentication -> authentication,
          (headers, attributes, method) -> null,
          (authentication, call) -> null);
    }

    @Bean
    Authenticated service() {
      return new Authenticated();
    }
  }

  @GrpcService(interceptors = AuthenticationProcessInterceptor.class)
  static class Authenticated extends ThingServiceGrpc.ThingServiceImplBase {}

  @Test
  void anInterceptorThatIsRegisteredTwiceStopsTheStart() {
    complete().withUserConfiguration(RegisteredAgain.class).run(oneProblem("registered twice"));
  }

  @Configuration(proxyBeanMethods = false)
  static class RegisteredAgain {
    @Bean
    @GlobalServerInterceptor
    IdempotencyInterceptor own() {
      return IdempotencyInterceptor.builder(Procedures.of(), Optional::empty)
          .withoutStore()
          .build();
    }
  }

  @Test
  void anInterceptorThatIsFilteredOutStopsTheStart() {
    complete()
        .withBean(
            GrpcServerFactoryCustomizer.class,
            () ->
                factory ->
                    ((DefaultGrpcServerFactory<?>) factory)
                        .setInterceptorFilter((interceptor, service) -> false))
        .run(oneProblem("a ServerInterceptorFilter removes"));
  }

  @Test
  void interceptorsOfTheApplicationMayRunInside() {
    complete()
        .withUserConfiguration(Inner.class)
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Configuration(proxyBeanMethods = false)
  static class Inner {
    @Bean
    @Order(Ordered.LOWEST_PRECEDENCE)
    @GlobalServerInterceptor
    ServerInterceptor inner() {
      return new ServerInterceptor() {
        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
          return next.startCall(call, headers);
        }
      };
    }
  }

  private static FailureAnalysis analysis(AssertableApplicationContext context) {
    Throwable failure = Objects.requireNonNull(context.getStartupFailure());
    return SpringFactoriesLoader.forDefaultResourceLocation()
        .load(FailureAnalyzer.class, (type, name, failed) -> {})
        .stream()
        .filter(
            analyzer ->
                analyzer.getClass().getPackageName().endsWith("grpcidempotency.spring.boot"))
        .map(analyzer -> analyzer.analyze(failure))
        .filter(Objects::nonNull)
        .findFirst()
        .orElseThrow();
  }
}
