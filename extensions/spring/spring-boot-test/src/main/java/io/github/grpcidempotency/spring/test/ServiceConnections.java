package io.github.grpcidempotency.spring.test;

import io.github.grpcidempotency.spring.test.TestDatabase.Login;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.util.Arrays;
import java.util.Optional;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.flyway.autoconfigure.FlywayConnectionDetails;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.util.ClassUtils;

/**
 * Creates the database on the server of a service connection. Beans that read the connection's
 * details, which are a superuser's, get the details of a role instead.
 */
final class ServiceConnections implements BeanPostProcessor {
  /**
   * The attribute by which Spring Boot marks the details that it creates from a
   * {@code @ServiceConnection}.
   */
  private static final String MARK =
      "org.springframework.boot.testcontainers.service.connection.ServiceConnection";

  private static final boolean FLYWAY =
      ClassUtils.isPresent(
          "org.springframework.boot.flyway.autoconfigure.FlywayConnectionDetails",
          ServiceConnections.class.getClassLoader());

  private final Roles roles;
  private final ConfigurableListableBeanFactory beans;
  private Optional<TestDatabase> database = Optional.empty();

  ServiceConnections(Roles roles, ConfigurableListableBeanFactory beans) {
    this.roles = roles;
    this.beans = beans;
  }

  /**
   * Refuses an unexpected service connection, and a missing one.
   *
   * @param wanted whether the annotation expects a service connection
   */
  static void check(boolean wanted, ConfigurableListableBeanFactory beans) {
    boolean found =
        Arrays.stream(beans.getBeanNamesForType(JdbcConnectionDetails.class, true, false))
            .anyMatch(name -> beans.getMergedBeanDefinition(name).hasAttribute(MARK));
    if (found && !wanted) {
      throw new IllegalStateException(
          "there is a @ServiceConnection to a database, as whose superuser the application"
              + " would connect: use @IdempotencyDatabase(serviceConnection = true), or remove the"
              + " @ServiceConnection");
    }
    if (wanted && !found) {
      throw new IllegalStateException(
          "@IdempotencyDatabase(serviceConnection = true) finds no @ServiceConnection to a database");
    }
  }

  /** Returns the database. Starts its server if necessary. */
  TestDatabase database() {
    beans.getBean(JdbcConnectionDetails.class);
    return database.orElseThrow();
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    if (bean instanceof JdbcConnectionDetails superuser) {
      TestDatabase made = new TestDatabase(fixture(superuser), roles);
      database = Optional.of(made);
      return new ApplicationDetails(made.application());
    }
    return FLYWAY && bean instanceof FlywayConnectionDetails
        ? new OwnerDetails(database().owner())
        : bean;
  }

  private PostgresFixture fixture(JdbcConnectionDetails superuser) {
    return PostgresFixture.withRoles(roles.owner(), roles.application())
        .server(
            superuser.getJdbcUrl(),
            Optional.ofNullable(superuser.getUsername()).orElse(""),
            Optional.ofNullable(superuser.getPassword()).orElse(""))
        .create();
  }

  private record ApplicationDetails(Login login) implements JdbcConnectionDetails {
    @Override
    public String getUsername() {
      return login.username();
    }

    @Override
    public String getPassword() {
      return login.password();
    }

    @Override
    public String getJdbcUrl() {
      return login.url();
    }
  }

  private record OwnerDetails(Login login) implements FlywayConnectionDetails {
    @Override
    public String getUsername() {
      return login.username();
    }

    @Override
    public String getPassword() {
      return login.password();
    }

    @Override
    public String getJdbcUrl() {
      return login.url();
    }
  }
}
