package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ListAssert;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerAutoConfiguration;
import org.springframework.boot.grpc.server.autoconfigure.GrpcServerObservationAutoConfiguration;
import org.springframework.boot.grpc.server.autoconfigure.security.GrpcServerSecurityAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.NestedExceptionUtils;

/** Contexts without a database: what is wired, and what stops a start. */
final class Runners {
  private static final String TRANSPORT = "io.grpc.netty.shaded";

  private Runners() {}

  /** Has the autoconfiguration, a server and nothing else. */
  static ApplicationContextRunner bare() {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                GrpcServerAutoConfiguration.class,
                GrpcServerObservationAutoConfiguration.class,
                GrpcServerSecurityAutoConfiguration.class,
                IdempotencyAutoConfiguration.class,
                IdempotencyHealthAutoConfiguration.class,
                IdempotencyMetricsAutoConfiguration.class,
                IdempotencyStoreAutoConfiguration.class,
                IdempotencyTracingAutoConfiguration.class))
        .withClassLoader(without())
        .withPropertyValues("spring.grpc.server.inprocess.name=" + UUID.randomUUID());
  }

  /** Hides classes, and the transport, so that no port is opened. */
  static FilteredClassLoader without(String... packages) {
    String[] hidden = Arrays.copyOf(packages, packages.length + 1);
    hidden[packages.length] = TRANSPORT;
    return new FilteredClassLoader(hidden);
  }

  /** Has an annotated service, a store and callers as well. */
  static ApplicationContextRunner complete() {
    return withService()
        .withBean(IdempotencyStore.class, InMemoryIdempotencyStore::new)
        .withBean(CallerResolver.class, () -> () -> Optional.of(Caller.ofSubject("somebody")));
  }

  static ApplicationContextRunner withService() {
    return bare().withBean(AnnotatedService.class);
  }

  /** A data source that would fail as soon as it is used. */
  static DataSource unreachable() {
    PGSimpleDataSource nowhere = new PGSimpleDataSource();
    nowhere.setUrl("jdbc:postgresql://localhost:1/none");
    return nowhere;
  }

  /** Returns the problems that stopped a start. */
  static ListAssert<String> assertProblems(AssertableApplicationContext context) {
    return Assertions.assertThat(context.getStartupFailure())
        .extracting(NestedExceptionUtils::getMostSpecificCause)
        .asInstanceOf(InstanceOfAssertFactories.type(SetupException.class))
        .extracting(SetupException::problems, InstanceOfAssertFactories.list(String.class));
  }

  /** One of its methods carries the option. */
  static class AnnotatedService extends ThingServiceGrpc.ThingServiceImplBase {}
}
