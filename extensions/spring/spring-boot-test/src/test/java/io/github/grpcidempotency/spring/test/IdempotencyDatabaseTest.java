package io.github.grpcidempotency.spring.test;

import static io.github.grpcidempotency.spring.test.NotesApplication.strings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.grpcidempotency.testing.PostgresFixture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

@SpringBootTest(
    properties = {
      "spring.datasource.url=jdbc:postgresql://production/notes",
      "spring.datasource.username=notes_app",
      "spring.datasource.password=secret",
      "spring.flyway.user=notes_owner"
    })
@IdempotencyDatabase
class IdempotencyDatabaseTest {
  @Autowired JdbcClient jdbc;
  @Autowired PostgresFixture database;
  @Autowired Environment environment;
  @Autowired ApplicationContext context;

  @Test
  void theApplicationConnectsAsItsRoleAndMigrationsHaveRunAsTheOwner() {
    assertThat(strings(jdbc, "SELECT current_user")).containsExactly("notes_app");
    assertThat(
            strings(jdbc, "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"))
        .containsExactly("notes_owner");
    assertThatExceptionOfType(BadSqlGrammarException.class)
        .isThrownBy(() -> jdbc.sql("DELETE FROM note").update())
        .havingRootCause()
        .withMessageContaining("permission denied");
  }

  @Test
  void theLibrarysMigrationRunsAsTheOwner() {
    assertThat(environment.getProperty("grpc.idempotency.migration.username"))
        .isEqualTo("notes_owner");
    assertThat(environment.getProperty("grpc.idempotency.migration.url"))
        .isEqualTo(environment.getProperty("spring.datasource.url"))
        .doesNotContain("production", "user=");
    assertThat(environment.getProperty("grpc.idempotency.migration.password")).isEmpty();
  }

  @RepeatedTest(2)
  void everyTestFindsTheRowsOfTheStartAndNoOthers() {
    assertThat(strings(jdbc, "SELECT text FROM note")).isEmpty();
    assertThat(strings(jdbc, "SELECT name FROM kind")).containsExactly("from the migration");
    assertThat(strings(jdbc, "SELECT value FROM setting")).containsExactly("from the start");

    jdbc.sql("INSERT INTO note (text) VALUES ('of a test')").update();

    assertThat(strings(jdbc, "SELECT id FROM note")).containsExactly("1");
  }

  @RepeatedTest(2)
  @Transactional
  void rowsAreDeletedBeforeATestsOwnTransactionBegins() {
    assertThat(strings(jdbc, "SELECT text FROM note")).isEmpty();

    jdbc.sql("INSERT INTO note (text) VALUES ('rolled back')").update();
  }

  @Test
  void theFixtureLooksAtTheSameDatabaseAsASuperuser() {
    jdbc.sql("INSERT INTO note (text) VALUES ('seen')").update();

    JdbcClient superuser = JdbcClient.create(database.superuser());

    assertThat(strings(superuser, "SELECT text FROM note")).containsExactly("seen");
    assertThat(strings(superuser, "SELECT current_user")).containsExactly("postgres");
  }

  @Nested
  class WithinTheClass {
    @Test
    void theContextIsTheSame(@Autowired ApplicationContext inner) {
      assertThat(inner).isSameAs(context);
    }

    @RepeatedTest(2)
    void rowsAreDeletedAsWell() {
      assertThat(strings(jdbc, "SELECT text FROM note")).isEmpty();

      jdbc.sql("INSERT INTO note (text) VALUES ('of an inner test')").update();
    }
  }
}
