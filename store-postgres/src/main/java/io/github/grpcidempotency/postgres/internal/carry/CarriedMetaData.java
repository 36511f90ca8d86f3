package io.github.grpcidempotency.postgres.internal.carry;

import io.github.grpcidempotency.postgres.internal.driver.Driver;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.DatabaseMetaData;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The metadata of a connection whose leading statements are not sent yet. A question that the
 * driver answers without the database is passed on. Before any other question, the leading
 * statements are sent. Spring reads the driver's name before it sets a parameter to null.
 */
final class CarriedMetaData implements InvocationHandler {
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
          "hashCode",
          "supportsBatchUpdates",
          "supportsGetGeneratedKeys",
          "supportsSavepoints",
          "toString");

  private final CarryingConnection connection;
  private final DatabaseMetaData metaData;

  private CarriedMetaData(CarryingConnection connection, DatabaseMetaData metaData) {
    this.connection = connection;
    this.metaData = metaData;
  }

  static DatabaseMetaData of(CarryingConnection connection, DatabaseMetaData metaData) {
    return (DatabaseMetaData)
        Proxy.newProxyInstance(
            CarriedMetaData.class.getClassLoader(),
            new Class<?>[] {DatabaseMetaData.class},
            new CarriedMetaData(connection, metaData));
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
      throws Throwable {
    if (method.getName().equals("equals")) {
      return arguments != null && proxy == arguments[0];
    }
    if (method.getName().equals("getConnection")) {
      return connection.shown();
    }
    if (!KNOWN.contains(method.getName())) {
      connection.sendBeforeUse();
    }
    return Driver.invoke(method, metaData, arguments);
  }
}
