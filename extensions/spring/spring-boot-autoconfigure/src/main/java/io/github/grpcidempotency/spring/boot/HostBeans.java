package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.store.SetupException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the application's beans that the library uses. If there are several candidates: the one
 * with the qualifier {@code idempotency}, otherwise the primary one.
 */
final class HostBeans {
  /** The qualifier of the beans for the library. */
  static final String QUALIFIER = "idempotency";

  /** The qualifier of the pool for the store's own statements. */
  static final String CONNECTIONS = "idempotency-connections";

  private final ConfigurableListableBeanFactory beans;

  HostBeans(ConfigurableListableBeanFactory beans) {
    this.beans = beans;
  }

  /**
   * Returns the data source of the records.
   *
   * @throws SetupException if there is none, or if there are several and none of them is marked
   */
  DataSource dataSource() {
    return choose(DataSource.class, true, name -> true)
        .map(name -> beans.getBean(name, DataSource.class))
        .orElseThrow(() -> new SetupException(List.of("there is no DataSource bean: declare one")));
  }

  /** Returns the pool for the store's own statements; empty if the application declares none. */
  Optional<DataSource> connections() {
    return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, DataSource.class))
        .filter(name -> isMarked(name, CONNECTIONS))
        .map(name -> beans.getBean(name, DataSource.class))
        .findFirst();
  }

  private boolean isMarked(String name, String qualifier) {
    return BeanFactoryAnnotationUtils.isQualifierMatch(qualifier::equals, name, beans);
  }

  /**
   * Returns the name of the data source of the records; empty if there is none. Does not create any
   * bean.
   *
   * @throws SetupException if there are several and none of them is marked
   */
  Optional<String> nameOfDataSource() {
    return choose(DataSource.class, false, name -> true);
  }

  /**
   * Returns the transaction manager of a data source; empty if there is no transaction manager.
   *
   * @throws SetupException if there are several and none of them is marked, or if none of them
   *     manages this data source, so that the handlers' writes would not be part of the claim
   */
  Optional<PlatformTransactionManager> transactionManager(DataSource dataSource) {
    Optional<PlatformTransactionManager> chosen =
        choose(
                PlatformTransactionManager.class,
                true,
                name ->
                    mayManage(beans.getBean(name, PlatformTransactionManager.class), dataSource))
            .map(name -> beans.getBean(name, PlatformTransactionManager.class));
    List<String> all =
        List.of(
            BeanFactoryUtils.beanNamesForTypeIncludingAncestors(
                beans, PlatformTransactionManager.class));
    if (chosen.isEmpty() && !all.isEmpty()) {
      throw new SetupException(
          List.of(
              "Spring's transactions cannot be used: no transaction manager manages the data source"
                  + " of the records, of "
                  + String.join(", ", all)
                  + ": mark its transaction manager with @Qualifier(\"idempotency\"), or set"
                  + " grpc.idempotency.host-transactions to false"));
    }
    return chosen;
  }

  private Optional<String> choose(Class<?> type, boolean eager, Predicate<String> fits) {
    List<String> all = new ArrayList<>();
    List<String> marked = new ArrayList<>();
    List<String> primary = new ArrayList<>();
    for (String name :
        BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, eager)) {
      boolean isMarked = isMarked(name, QUALIFIER);
      if (isMarked) {
        marked.add(name);
      }
      if (isMarked || (isCandidate(name) && !isMarked(name, CONNECTIONS) && fits.test(name))) {
        all.add(name);
        if (isPrimary(name)) {
          primary.add(name);
        }
      }
    }
    List<String> chosen = !marked.isEmpty() ? marked : all.size() > 1 ? primary : all;
    if (all.isEmpty()) {
      return Optional.empty();
    }
    if (chosen.size() != 1) {
      throw new SetupException(
          List.of(
              "there are several %s beans, %s, and %s is marked with @Qualifier(\"%s\") or @Primary"
                  .formatted(
                      type.getSimpleName(),
                      String.join(", ", all),
                      chosen.isEmpty() ? "none" : "more than one",
                      QUALIFIER)));
    }
    return Optional.of(chosen.get(0));
  }

  private boolean isPrimary(String name) {
    return definition(name).map(BeanDefinition::isPrimary).orElse(false);
  }

  private boolean isCandidate(String name) {
    return definition(name).map(BeanDefinition::isAutowireCandidate).orElse(true);
  }

  private Optional<BeanDefinition> definition(String name) {
    return beans.containsBeanDefinition(name)
        ? Optional.of(beans.getMergedBeanDefinition(name))
        : Optional.empty();
  }

  /** Returns whether a manager manages this data source, or does not report its data source. */
  private static boolean mayManage(PlatformTransactionManager manager, DataSource dataSource) {
    return managedBy(manager)
        .map(managed -> innermost(managed) == innermost(dataSource))
        .orElse(true);
  }

  /** Both {@code DataSourceTransactionManager} and {@code JpaTransactionManager} have a getter. */
  private static Optional<DataSource> managedBy(PlatformTransactionManager manager) {
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
