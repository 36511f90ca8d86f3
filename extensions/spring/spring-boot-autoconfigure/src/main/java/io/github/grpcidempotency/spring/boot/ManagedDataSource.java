package io.github.grpcidempotency.spring.boot;

import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the data source that a transaction manager manages, without depending on the manager's
 * class.
 */
final class ManagedDataSource {
  private ManagedDataSource() {}

  /** Returns whether a manager manages this data source, or does not report its data source. */
  static boolean mayBe(PlatformTransactionManager manager, DataSource dataSource) {
    return of(manager).map(managed -> innermost(managed) == innermost(dataSource)).orElse(true);
  }

  /** Both {@code DataSourceTransactionManager} and {@code JpaTransactionManager} have a getter. */
  private static Optional<DataSource> of(PlatformTransactionManager manager) {
    return Optional.ofNullable(BeanUtils.findMethod(manager.getClass(), "getDataSource"))
        .map(getter -> ReflectionUtils.invokeMethod(getter, manager))
        .filter(DataSource.class::isInstance)
        .map(DataSource.class::cast);
  }

  private static DataSource innermost(DataSource dataSource) {
    DataSource inner = dataSource;
    while (inner instanceof DelegatingDataSource delegating) {
      @Nullable DataSource target = delegating.getTargetDataSource();
      if (target == null) {
        return inner;
      }
      inner = target;
    }
    return inner;
  }
}
