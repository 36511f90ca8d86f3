package io.github.grpcidempotency.example.run.database;

import io.github.grpcidempotency.example.service.OrganizationSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.postgresql.ds.PGSimpleDataSource;

/** A PostgreSQL of the user's own, with the roles of {@code db/roles.sql} or others like them. */
public final class OwnDatabase implements HostDatabase {
  private static final String BYPASSES_ROW_LEVEL_SECURITY =
      "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user";

  private final String url;
  private final Login app;
  private final Login worker;
  private final Login owner;

  private OwnDatabase(String url, Login app, Login worker, Login owner) {
    this.url = url;
    this.app = app;
    this.worker = worker;
    this.owner = owner;
  }

  /**
   * Returns the user that a JDBC URL itself names, if it does.
   *
   * @throws StartupFailure if it is not the JDBC URL of a PostgreSQL
   */
  public static Optional<String> userIn(String url) {
    return Optional.ofNullable(parse(url).getUser());
  }

  /**
   * Connects as the roles that are needed at run time, to see whether they can be used.
   *
   * @param url a JDBC URL; the logins replace a user in it
   * @throws StartupFailure if the database cannot be reached, refuses a role, or the role that
   *     serves calls would bypass row-level security
   */
  public static OwnDatabase connect(String url, Login app, Login worker, Login owner) {
    OwnDatabase database = new OwnDatabase(url, app, worker, owner);
    database.checkConnection(app);
    database.checkRowLevelSecurityBinds(app);
    database.checkConnection(worker);
    return database;
  }

  @Override
  public DataSource app() {
    return serving(app);
  }

  @Override
  public DataSource worker() {
    return serving(worker);
  }

  @Override
  public void migrate() {
    checkConnection(owner);
    OrganizationSchema.migrate(dataSource(owner), app.user(), worker.user(), Roles.OPERATOR);
  }

  /** Does nothing: the user started the database, and stops it. */
  @Override
  public void close() {}

  private void checkConnection(Login login) {
    PGSimpleDataSource dataSource = dataSource(login);
    try (Connection connection = dataSource.getConnection()) {
      connection.getMetaData();
    } catch (SQLException e) {
      throw StartupFailure.because(
          "PostgreSQL at %s cannot be used as role %s".formatted(address(dataSource), login), e);
    }
  }

  private void checkRowLevelSecurityBinds(Login login) {
    boolean bypasses =
        Jdbi.create(dataSource(login))
            .withHandle(
                handle ->
                    handle.createQuery(BYPASSES_ROW_LEVEL_SECURITY).mapTo(Boolean.class).one());
    if (bypasses) {
      throw new StartupFailure(
          "The role %s would bypass row-level security; serve calls as one that is NOSUPERUSER and NOBYPASSRLS, such as %s."
              .formatted(login, Roles.APP));
    }
  }

  private PGSimpleDataSource serving(Login login) {
    PGSimpleDataSource dataSource = dataSource(login);
    if (dataSource.getSocketTimeout() == 0) {
      dataSource.setSocketTimeout(SOCKET_TIMEOUT_SECONDS);
    }
    return dataSource;
  }

  private PGSimpleDataSource dataSource(Login login) {
    PGSimpleDataSource dataSource = parse(url);
    dataSource.setUser(login.user());
    if (!login.password().isEmpty()) {
      dataSource.setPassword(login.password());
    }
    return dataSource;
  }

  private static PGSimpleDataSource parse(String url) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    try {
      dataSource.setUrl(url);
      return dataSource;
    } catch (IllegalArgumentException e) {
      throw new StartupFailure(
          "\"%s\" is not the JDBC URL of a PostgreSQL, such as jdbc:postgresql://localhost:5432/example."
              .formatted(url));
    }
  }

  private static String address(PGSimpleDataSource dataSource) {
    return "%s:%d/%s"
        .formatted(
            String.join(",", dataSource.getServerNames()),
            dataSource.getPortNumbers()[0],
            dataSource.getDatabaseName());
  }
}
