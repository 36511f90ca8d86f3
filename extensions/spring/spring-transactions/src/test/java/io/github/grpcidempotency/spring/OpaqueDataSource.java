package io.github.grpcidempotency.spring;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** One whose connections do not tell what they stand for, as some that trace statements. */
final class OpaqueDataSource extends DelegatingDataSource {
  OpaqueDataSource(DataSource target) {
    super(target);
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = super.getConnection();
    return (Connection)
        Proxy.newProxyInstance(
            OpaqueDataSource.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              switch (method.getName()) {
                case "unwrap" -> throw new SQLException("there is nothing to unwrap");
                case "isWrapperFor" -> {
                  return false;
                }
                case "equals" -> {
                  return proxy == arguments[0];
                }
                default -> {
                  try {
                    return method.invoke(connection, arguments);
                  } catch (InvocationTargetException thrown) {
                    throw thrown.getTargetException();
                  }
                }
              }
            });
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    throw new SQLException("there is nothing to unwrap");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return false;
  }
}
