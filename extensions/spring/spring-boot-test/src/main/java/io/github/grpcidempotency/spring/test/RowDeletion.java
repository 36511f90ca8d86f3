package io.github.grpcidempotency.spring.test;

import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.TestExecutionListener;

/** Deletes the rows of earlier tests. */
final class RowDeletion implements TestExecutionListener, Ordered {
  private static final int AFTER_DEPENDENCY_INJECTION_AND_BEFORE_TRANSACTIONS = 3500;

  @Override
  public int getOrder() {
    return AFTER_DEPENDENCY_INJECTION_AND_BEFORE_TRANSACTIONS;
  }

  @Override
  public void prepareTestInstance(TestContext test) {
    if (isAnnotated(test)) {
      database(test).started();
    }
  }

  @Override
  public void beforeTestMethod(TestContext test) {
    if (isAnnotated(test)) {
      database(test).fixture().reset();
    }
  }

  private static boolean isAnnotated(TestContext test) {
    return TestContextAnnotationUtils.hasAnnotation(test.getTestClass(), IdempotencyDatabase.class);
  }

  private static TestDatabase database(TestContext test) {
    return test.getApplicationContext().getBean(TestDatabase.class);
  }
}
