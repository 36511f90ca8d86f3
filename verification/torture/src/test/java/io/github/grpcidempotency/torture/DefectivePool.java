package io.github.grpcidempotency.torture;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/** A pool that sometimes throws an exception that no pool should throw. */
final class DefectivePool {
  private DefectivePool() {}

  /**
   * Wraps a pool.
   *
   * @param perMille how many of a thousand connections fail
   */
  static DataSource of(DataSource pool, int perMille) {
    return (DataSource)
        Proxy.newProxyInstance(
            DefectivePool.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("getConnection")
                  && ThreadLocalRandom.current().nextInt(1_000) < perMille) {
                throw new IllegalStateException("the pool has a defect");
              }
              try {
                return method.invoke(pool, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            });
  }
}
