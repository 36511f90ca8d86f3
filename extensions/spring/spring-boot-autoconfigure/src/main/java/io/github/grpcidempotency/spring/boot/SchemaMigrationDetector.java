package io.github.grpcidempotency.spring.boot;

import java.util.Set;
import org.springframework.boot.sql.init.dependency.AbstractBeansOfTypeDatabaseInitializerDetector;
import org.springframework.core.Ordered;

/**
 * Makes the library's migration run before all other migrations, and before the beans that need a
 * database.
 */
final class SchemaMigrationDetector extends AbstractBeansOfTypeDatabaseInitializerDetector {
  @Override
  protected Set<Class<?>> getDatabaseInitializerBeanTypes() {
    return Set.of(SchemaMigration.class);
  }

  @Override
  public int getOrder() {
    return Ordered.HIGHEST_PRECEDENCE;
  }
}
