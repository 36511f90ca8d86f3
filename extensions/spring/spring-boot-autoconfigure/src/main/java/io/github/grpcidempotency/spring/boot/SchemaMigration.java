package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.store.SetupException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Migrates the library's schema when the context starts, with a user name and password of its own.
 * The application's migrations, which register resource types in the schema, run afterwards.
 */
final class SchemaMigration implements InitializingBean {
  private static final Logger logger = LoggerFactory.getLogger(SchemaMigration.class);

  private final IdempotencyProperties properties;
  private final Supplier<DataSource> application;

  /**
   * Creates the migration.
   *
   * @param application the data source of the database, unless a URL is set
   */
  SchemaMigration(IdempotencyProperties properties, Supplier<DataSource> application) {
    this.properties = properties;
    this.application = application;
  }

  @Override
  public void afterPropertiesSet() {
    IdempotencyProperties.Migration settings = properties.migration();
    String username = settings.username();
    if (username == null) {
      return;
    }
    String url = settings.url() == null ? urlOf(application.get()) : settings.url();
    String password = settings.password();
    DataSource owner = new DriverManagerDataSource(url, username, password == null ? "" : password);
    checkRole(owner, username);
    try {
      IdempotencySchema.migrate(owner, properties.schema());
      if (properties.services().operations()) {
        new JdbcTemplate(owner)
            .execute("SELECT \"%s\".add_operation_index()".formatted(properties.schema()));
      }
    } catch (IllegalStateException noFlyway) {
      throw problem(String.valueOf(noFlyway.getMessage()));
    } catch (RuntimeException failure) {
      logger.error("the migration of schema " + properties.schema() + " failed", failure);
      throw problem(
          ("the migration failed as grpc.idempotency.migration.username %s: %s; the page \"Roles,"
                  + " rights and rotation\" of the documentation lists the rights that the role"
                  + " needs")
              .formatted(
                  username, NestedExceptionUtils.getMostSpecificCause(failure).getMessage()));
    }
  }

  /** A user name in the URL takes precedence over the property, and could be the application's. */
  private static void checkRole(DataSource owner, String username) {
    try (Connection connection = owner.getConnection()) {
      String role = connection.getMetaData().getUserName();
      if (!role.equals(username)) {
        throw problem(
            ("grpc.idempotency.migration.username is %s, but the URL connects as %s: set"
                    + " grpc.idempotency.migration.url to a URL without a user name")
                .formatted(username, role));
      }
    } catch (SQLException refused) {
      throw problem(
          "the migration cannot connect as grpc.idempotency.migration.username %s: %s"
              .formatted(username, refused.getMessage()));
    }
  }

  private static String urlOf(DataSource dataSource) {
    try (Connection connection = dataSource.getConnection()) {
      return connection.getMetaData().getURL();
    } catch (SQLException refused) {
      throw problem(
          "the migration needs a URL, because the data source cannot connect and"
              + " grpc.idempotency.migration.url is not set: "
              + refused.getMessage());
    }
  }

  private static SetupException problem(String problem) {
    return new SetupException(List.of(problem));
  }
}
