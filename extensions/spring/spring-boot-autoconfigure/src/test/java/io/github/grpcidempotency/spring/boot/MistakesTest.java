package io.github.grpcidempotency.spring.boot;

import static io.github.grpcidempotency.spring.boot.Runners.assertProblems;
import static io.github.grpcidempotency.spring.boot.Runners.complete;
import static io.github.grpcidempotency.spring.boot.Runners.withService;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.test.MistakeTable;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * The mistakes of a new user of Spring Boot: each test makes the mistake of one row of the page.
 */
class MistakesTest {
  private static final MistakeTable TABLE = MistakeTable.under("In Spring Boot");

  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("shop_owner", "shop_app").create();

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
  void theLibraryIsNotMigrated() {
    isFound(onDatabase(database.as("shop_app")));
  }

  @Test
  void thePoolIsNotHikaricp() {
    DataSource another = database.as("shop_app");
    isFound(
        onDatabase(
            new AbstractDataSource() {
              @Override
              public Connection getConnection() throws SQLException {
                return another.getConnection();
              }

              @Override
              public Connection getConnection(String user, String password) throws SQLException {
                return another.getConnection(user, password);
              }
            }));
  }

  @Test
  void theRetentionIsShorterThanALease() {
    isFound(
        withService()
            .withBean(
                IdempotencyStore.class, () -> new InMemoryIdempotencyStore(Duration.ofDays(2)))
            .withBean(CallerResolver.class, () -> Optional::empty));
  }

  private static ApplicationContextRunner onDatabase(DataSource database) {
    return withService()
        .withBean(CallerResolver.class, () -> Optional::empty)
        .withBean(DataSource.class, () -> database);
  }

  @Test
  void theRoleThatMigratesIsNotNamed() {
    JdbcTemplate migration = new JdbcTemplate(database.owner());
    Throwable failure =
        catchThrowable(() -> migration.execute("SELECT idempotency.grant_to('shop_app')"));

    mistake.isFoundAtStartUp(
        Objects.requireNonNull(new MissingSchemaFailureAnalyzer().analyze(failure))
            .getDescription());
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
