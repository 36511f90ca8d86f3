package io.github.grpcidempotency.postgres.internal.carry;

import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.driver.JdbcProxy;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The metadata of a connection whose leading statements are not sent yet. A question that the
 * driver answers without the database is passed on. Before any other question, the leading
 * statements are sent. Spring reads the driver's name before it sets a parameter to null.
 */
final class CarriedMetaData extends JdbcProxy<DatabaseMetaData> {
  private static final Set<String> KNOWN =
      Set.of(
          "getDatabaseMajorVersion",
          "getDatabaseMinorVersion",
          "getDatabaseProductName",
          "getDatabaseProductVersion",
          "getDriverMajorVersion",
          "getDriverMinorVersion",
          "getDriverName",
          "getDriverVersion",
          "getURL",
          "supportsBatchUpdates",
          "supportsGetGeneratedKeys",
          "supportsSavepoints");

  private final CarryingConnection connection;
  private final DatabaseMetaData metaData;

  CarriedMetaData(CarryingConnection connection, DatabaseMetaData metaData) {
    super(DatabaseMetaData.class);
    this.connection = connection;
    this.metaData = metaData;
  }

  @Replaces
  Connection getConnection() {
    return connection.shown();
  }

  @Override
  protected @Nullable Object other(Method method, @Nullable Object @Nullable [] arguments)
      throws Throwable {
    if (!KNOWN.contains(method.getName())) {
      connection.sendBeforeUse();
    }
    return Driver.invoke(method, metaData, arguments);
  }

  @Override
  public String toString() {
    return metaData.toString();
  }
}
