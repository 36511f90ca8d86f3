package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.postgres.IdempotencyDataSource;
import io.github.grpcidempotency.procedure.SetupException;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.util.function.SingletonSupplier;

/**
 * Wraps the data source of the records in an {@link IdempotencyDataSource}. Other data sources are
 * not changed.
 */
final class WrappedDataSource implements BeanPostProcessor {
  private static final Logger logger = LoggerFactory.getLogger(WrappedDataSource.class);

  private final HostBeans host;
  private final SingletonSupplier<Optional<String>> ofRecords =
      SingletonSupplier.of(this::nameOfDataSource);

  WrappedDataSource(HostBeans host) {
    this.host = host;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    return bean instanceof DataSource dataSource
            && ofRecords.obtain().filter(name::equals).isPresent()
            && !isWrapped(dataSource)
        ? new IdempotencyDataSource(dataSource)
        : bean;
  }

  /** Problems of the beans are reported when the store is created. */
  private Optional<String> nameOfDataSource() {
    try {
      return host.nameOfDataSource();
    } catch (SetupException unclear) {
      logger.debug("no data source is wrapped", unclear);
      return Optional.empty();
    }
  }

  private static boolean isWrapped(DataSource dataSource) {
    try {
      return dataSource.isWrapperFor(IdempotencyDataSource.class);
    } catch (SQLException untold) {
      logger.debug(
          "could not find out whether a data source wraps an IdempotencyDataSource", untold);
      return false;
    }
  }
}
