package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An owner's default privileges give nobody more than the library's own grants. */
class DefaultPrivilegesTest {
  private static final String RIGHTS =
      """
      SELECT c.relname || ' ' || privilege
        FROM pg_class AS c,
             unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS privilege
       WHERE c.relnamespace = 'idempotency'::regnamespace
         AND c.relkind IN ('r', 'p')
         AND has_table_privilege('%1$s', c.oid, privilege)
      UNION ALL
      SELECT c.relname || ' ' || privilege
        FROM pg_class AS c, unnest(ARRAY['USAGE', 'SELECT', 'UPDATE']) AS privilege
       WHERE c.relnamespace = 'idempotency'::regnamespace
         AND c.relkind = 'S'
         AND has_sequence_privilege('%1$s', c.oid, privilege)
      UNION ALL
      SELECT p.proname
        FROM pg_proc AS p
       WHERE p.pronamespace = 'idempotency'::regnamespace
         AND has_function_privilege('%1$s', p.oid, 'EXECUTE')
       ORDER BY 1
      """;

  private final TestDatabase database = TestDatabase.unmigrated();

  @BeforeEach
  void giveEverythingToEverybody() {
    Jdbi.create(database.owner())
        .useHandle(
            handle ->
                handle.execute(
                    """
                    ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO things_app, PUBLIC;
                    ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO things_app, PUBLIC;
                    ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO things_app;
                    """));
  }

  @AfterEach
  void close() {
    Jdbi.create(database.owner())
        .useHandle(
            handle ->
                handle.execute(
                    """
                    ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM things_app, PUBLIC;
                    ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM things_app, PUBLIC;
                    ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM things_app;
                    """));
    database.close();
  }

  @Test
  void theApplicationHasOnlyTheRightsThatAServerNeeds() {
    IdempotencySchema.migrate(database.owner());
    TestDatabase.runHostMigration(database.owner());

    assertThat(rightsOf("things_app"))
        .containsExactly(
            "answer_beginnings",
            "answers_after",
            "current_user_id",
            "current_user_ids",
            "idempotency_facts SELECT",
            "idempotency_keys DELETE",
            "idempotency_keys INSERT",
            "idempotency_keys SELECT",
            "idempotency_keys UPDATE",
            "idempotency_waits DELETE",
            "idempotency_waits INSERT",
            "idempotency_waits SELECT",
            "in_flight",
            "refer_if_it_stands",
            "refuse_claim",
            "refuse_commit",
            "renew_leases",
            "statistics",
            "sweep_expired");
    Things.verify(PostgresIdempotencyStore.builder(database.app()).build(), Things.CREATE_THING);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT ON idempotency.idempotency_audit",
        "SELECT ON idempotency.idempotency_salt",
        "UPDATE ON idempotency.idempotency_facts",
        "TRUNCATE ON idempotency.idempotency_keys",
        "DELETE ON idempotency.flyway_schema_history",
        "EXECUTE ON FUNCTION idempotency.operator_erase"
      })
  void aServerWhoseRoleHasMoreThanItNeedsDoesNotStart(String right) {
    IdempotencySchema.migrate(database.owner());
    TestDatabase.runHostMigration(database.owner());
    PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(database.app()).build();
    for (String grantee : List.of("things_app", "PUBLIC")) {
      database.execute("GRANT " + right + " TO " + grantee);

      assertThatThrownBy(() -> Things.verify(store, Things.CREATE_THING))
          .hasMessageContaining(right.replaceAll(".*\\.", ""));
      database.execute("REVOKE " + right + " FROM " + grantee);
    }
    Things.verify(store, Things.CREATE_THING);
  }

  private List<String> rightsOf(String role) {
    return database.list(String.class, RIGHTS.formatted(role));
  }
}
