package io.github.grpcidempotency.spring.boot;

import static io.github.grpcidempotency.spring.boot.Runners.assertProblems;
import static io.github.grpcidempotency.spring.boot.Runners.complete;
import static io.github.grpcidempotency.spring.boot.Runners.withService;

import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.test.MistakeTable;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * The mistakes of a new user of Spring Boot: each test makes the mistake of one row of the page.
 */
class MistakesTest {
  private static final MistakeTable TABLE = MistakeTable.under("In Spring Boot");

  private final MistakeTable.Row mistake;

  MistakesTest(TestInfo test) {
    this.mistake = TABLE.of(test.getTestMethod().orElseThrow().getName());
  }

  @BeforeAll
  static void everyRowHasATest() {
    TABLE.assertTestedBy(MistakesTest.class);
  }

  @Test
  void nothingAuthenticatesCalls() {
    isFound(withService().withBean(IdempotencyStore.class, InMemoryIdempotencyStore::new));
  }

  @Test
  void thereIsNoDataSource() {
    isFound(withService().withBean(CallerResolver.class, () -> Optional::empty));
  }

  @Test
  void aHandlerThatIsNotTransactionalHasNoExecution() {
    isFound(complete().withBean(UndecidedService.Plain.class));
  }

  @Test
  void aTransactionalHandlerHasAStricterIsolation() {
    isFound(complete().withBean(UndecidedService.Serializable.class));
  }

  @Test
  void aTransactionalHandlerIsReadOnly() {
    isFound(complete().withBean(UndecidedService.ReadOnly.class));
  }

  private void isFound(ApplicationContextRunner application) {
    application.run(
        context ->
            assertProblems(context)
                .satisfies(problems -> mistake.isFoundAtStartUp(String.join("\n", problems))));
  }
}
