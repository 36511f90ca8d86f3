package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.postgres.IdempotencyDataSource;
import io.github.grpcidempotency.procedure.SetupException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Wraps the data source of the records in an {@link IdempotencyDataSource}. Other data sources are
 * not changed. The wrapper extends the class of the bean if possible, because applications inject a
 * {@code HikariDataSource} by its class.
 */
final class WrappedDataSource implements BeanPostProcessor {
  private static final Logger logger = LoggerFactory.getLogger(WrappedDataSource.class);

  /** The methods that the wrapper handles itself. */
  private static final Set<String> CARRYING = Set.of("getConnection", "unwrap", "isWrapperFor");

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
        ? wrap(dataSource)
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

  private static DataSource wrap(DataSource pool) {
    IdempotencyDataSource wrapper = new IdempotencyDataSource(pool);
    if (!isExtensible(pool.getClass())) {
      return wrapper;
    }
    ProxyFactory factory = new ProxyFactory(pool);
    factory.setProxyTargetClass(true);
    factory.addAdvice(
        (MethodInterceptor)
            call ->
                CARRYING.contains(call.getMethod().getName())
                    ? callOn(wrapper, call)
                    : call.proceed());
    try {
      return (DataSource) factory.getProxy(pool.getClass().getClassLoader());
    } catch (AopConfigException unfit) {
      logger.debug("{} cannot be extended", pool.getClass(), unfit);
      return wrapper;
    }
  }

  /**
   * A class with final public methods cannot be extended: a final method would run on an object
   * that was never constructed.
   */
  private static boolean isExtensible(Class<?> type) {
    return !Modifier.isFinal(type.getModifiers())
        && Arrays.stream(type.getMethods())
            .filter(method -> method.getDeclaringClass() != Object.class)
            .noneMatch(method -> Modifier.isFinal(method.getModifiers()));
  }

  private static @Nullable Object callOn(IdempotencyDataSource wrapper, MethodInvocation call)
      throws Throwable {
    Method method =
        ClassUtils.getMethod(
            DataSource.class, call.getMethod().getName(), call.getMethod().getParameterTypes());
    return AopUtils.invokeJoinpointUsingReflection(wrapper, method, call.getArguments());
  }
}
