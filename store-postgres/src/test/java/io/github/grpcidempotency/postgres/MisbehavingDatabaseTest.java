package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.test.LogLines;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Engines that take every statement of the store and do something else, imitated on PostgreSQL: by
 * functions that are found before the real ones, or by what the owner of the tables can change. A
 * store must not start there.
 */
class MisbehavingDatabaseTest {
  /** What is wrong with an engine, and what start-up says of it. */
  private enum Imitation {
    A_SETTING_THAT_REACHES_NOTHING(
        """
        CREATE FUNCTION imitation.set_config(text, text, boolean) RETURNS text RETURN $2
        """,
        "set_config(…, true) has no effect on the statements after it"),
    A_SETTING_THAT_OUTLASTS_ITS_TRANSACTION(
        """
        CREATE FUNCTION imitation.set_config(text, text, boolean) RETURNS text
          RETURN pg_catalog.set_config($1, $2, false)
        """,
        "keeps app.current_user_id after the end of the transaction"),
    A_POLICY_THAT_IS_NOT_THERE(
        "DROP POLICY own_rows ON idempotency.idempotency_keys",
        "lacks the policy own_rows, which its migrations created"),
    A_POLICY_THAT_HIDES_NOTHING(
        "ALTER POLICY own_rows ON idempotency.idempotency_keys USING (true)",
        "row-level security shows a user's record to another user"),
    A_KEY_THAT_IS_NOT_UNIQUE(
        """
        ALTER TABLE idempotency.idempotency_keys DROP CONSTRAINT idempotency_keys_key
        """,
        "constraint"),
    A_RENEWAL_AS_ITS_CALLER(
        "ALTER FUNCTION idempotency.renew_leases SECURITY INVOKER",
        "renew_leases is not a SECURITY DEFINER function"),
    A_LOOK_AS_ITS_CALLER(
        "ALTER FUNCTION idempotency.in_flight SECURITY INVOKER",
        "in_flight is not a SECURITY DEFINER function"),
    A_SWEEP_AS_ITS_CALLER(
        "ALTER FUNCTION idempotency.sweep_expired SECURITY INVOKER",
        "sweep_expired is not a SECURITY DEFINER function"),
    A_RENEWAL_WITHOUT_EFFECT(
        """
        CREATE OR REPLACE FUNCTION
          idempotency.renew_leases(ids uuid[], attempts integer[], lease interval)
          RETURNS SETOF uuid LANGUAGE sql VOLATILE SECURITY DEFINER
          AS 'SELECT NULL::uuid WHERE false'
        """,
        "the function idempotency.renew_leases has no effect"),
    NO_SKIP_LOCKED(
        """
        CREATE OR REPLACE FUNCTION
          idempotency.renew_leases(ids uuid[], attempts integer[], lease interval)
          RETURNS SETOF uuid LANGUAGE plpgsql SECURITY DEFINER
          AS 'BEGIN RAISE feature_not_supported USING MESSAGE = ''SKIP LOCKED''; END'
        """,
        "could not renew its lease: ERROR: SKIP LOCKED"),
    A_LEASE_THAT_IS_OVER_AT_ONCE(
        "CREATE TRIGGER age BEFORE INSERT ON idempotency.idempotency_keys"
            + " FOR EACH ROW EXECUTE FUNCTION imitation.aged()",
        "a duplicate of a running trial call was not refused"),
    AN_ANSWER_THAT_IS_NOT_WRITTEN(
        "CREATE TRIGGER stay BEFORE UPDATE OF completed ON idempotency.idempotency_keys"
            + " FOR EACH ROW EXECUTE FUNCTION imitation.nothing()",
        "the answer of a trial call was not recorded"),
    AN_ANSWER_THAT_IS_WRITTEN_OTHERWISE(
        "CREATE TRIGGER change BEFORE UPDATE OF completed ON idempotency.idempotency_keys"
            + " FOR EACH ROW EXECUTE FUNCTION imitation.other()",
        "the recorded answer of a trial call was not replayed"),
    A_REFUSAL_THAT_REFUSES_NOTHING(
        """
        CREATE OR REPLACE FUNCTION idempotency.refuse_commit(code text) RETURNS void
          LANGUAGE sql AS ''
        """,
        "refuse_commit raises no error"),
    A_REFUSAL_WITH_A_CODE_OF_THE_ENGINES(
        """
        CREATE OR REPLACE FUNCTION idempotency.refuse_commit(code text) RETURNS void
          LANGUAGE plpgsql AS 'BEGIN RAISE internal_error; END'
        """,
        "could not refuse a commit: ERROR: internal_error");

    private final String statement;
    private final String problem;

    Imitation(String statement, String problem) {
      this.statement = statement;
      this.problem = problem;
    }
  }

  private final TestDatabase database = TestDatabase.create();

  @AfterEach
  void everyConnectionIsGivenBack() {
    database.awaitAllConnectionsBack();
    database.close();
  }

  @ParameterizedTest
  @EnumSource
  void anEngineThatDoesNotProtectIsRefused(Imitation imitation) {
    imitate(imitation.statement);

    try (HikariDataSource pool = deceived()) {
      assertThatThrownBy(() -> verify(store(pool), Things.CREATE_THING))
          .isInstanceOf(SetupException.class)
          .hasMessageContaining(imitation.problem);
    }
  }

  @Test
  void aLanguageThatCannotBeLoadedIsNoDamageOfTheSchema() {
    database.execute("UPDATE pg_proc SET probin = 'absent' WHERE proname = 'plpgsql_call_handler'");

    assertThatThrownBy(() -> verify(store(database.app()), Things.CREATE_THING))
        .isInstanceOf(SetupException.class)
        .hasMessageContaining("could not access file \"absent\"")
        .hasMessageContaining("Repair the installation of PostgreSQL")
        .hasMessageNotContaining("Create it anew");
  }

  /** Whoever asks for a running call, and claims nothing, would hear that there is none. */
  @Test
  void invisibleAdvisoryLocksAreRefusedForTransactionalProcedures() {
    imitate(
        """
        CREATE OR REPLACE FUNCTION
          idempotency.in_flight(
            keys text[], users uuid[], tenants text[], projects text[], locks bigint[])
          RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER AS
          'SELECT w.lock
             FROM unnest($1, $2, $5) AS w (key, user_uuid, lock)
             JOIN idempotency.idempotency_keys AS k
               ON k.idempotency_key = w.key AND k.user_uuid = w.user_uuid
            WHERE k.completed IS NULL'
        """);
    PostgresIdempotencyStore store = store(database.app()).build();

    assertThatCode(() -> Things.verify(store, Things.CREATE_THING)).doesNotThrowAnyException();
    assertThatThrownBy(() -> Things.verify(store, Things.TRANSACTIONAL))
        .isInstanceOf(SetupException.class)
        .hasMessageContaining("or idempotency.in_flight does not see them in pg_locks");
  }

  @Test
  void anAdvisoryLockThatIsNeverFreeIsRefusedForTransactionalProcedures() {
    imitate(
        "CREATE FUNCTION imitation.pg_try_advisory_xact_lock(bigint) RETURNS boolean RETURN false");

    try (HikariDataSource pool = deceived()) {
      assertThatThrownBy(() -> verify(store(pool), Things.TRANSACTIONAL))
          .isInstanceOf(SetupException.class)
          .hasMessageContaining("a trial call did not win a key that no other call holds");
    }
  }

  /** A server that waits notices that its own notification does not arrive, and polls. */
  @Test
  void notificationsThatNeverArriveAreAccepted() {
    imitate("CREATE FUNCTION imitation.pg_notify(text, text) RETURNS void RETURN NULL::void");

    try (HikariDataSource pool = deceived()) {
      assertThatCode(() -> verify(store(pool), Things.TRANSACTIONAL)).doesNotThrowAnyException();
    }
  }

  /** Only of a database that flushes what is written, which those of tests do not. */
  @ParameterizedTest
  @CsvSource({"on, on, false", "off, on, true", "off, off, false"})
  void asynchronousCommitsLogAWarning(String commits, String fsync, boolean warned) {
    imitate(
        """
        CREATE FUNCTION imitation.current_setting(text) RETURNS text
          RETURN CASE $1 WHEN 'fsync' THEN '%s' WHEN 'synchronous_commit' THEN '%s'
                         ELSE pg_catalog.current_setting($1) END
        """
            .formatted(fsync, commits));

    try (LogLines log = LogLines.listen();
        HikariDataSource pool = deceived()) {
      verify(store(pool), Things.CREATE_THING);

      assertThat(
              log.warnings().stream().anyMatch(line -> line.contains("synchronous_commit = off")))
          .isEqualTo(warned);
    }
  }

  private void imitate(String statement) {
    database.execute("CREATE SCHEMA imitation");
    database.execute("GRANT USAGE ON SCHEMA imitation TO things_app");
    database.execute(
        "CREATE FUNCTION imitation.nothing() RETURNS trigger LANGUAGE plpgsql"
            + " AS 'BEGIN RETURN NULL; END'");
    database.execute(
        "CREATE FUNCTION imitation.other() RETURNS trigger LANGUAGE plpgsql"
            + " AS 'BEGIN NEW.response_bytes := ''other''; RETURN NEW; END'");
    database.execute(
        "CREATE FUNCTION imitation.aged() RETURNS trigger LANGUAGE plpgsql"
            + " AS 'BEGIN NEW.lease_expires := now(); RETURN NEW; END'");
    database.execute(statement);
  }

  /** Returns a pool whose statements find the imitation first. */
  private HikariDataSource deceived() {
    return PostgresThingServer.pool(
        database.appUrl() + "&options=-c%20search_path=imitation,pg_catalog,public");
  }

  private static PostgresIdempotencyStore.Builder store(HikariDataSource pool) {
    return PostgresIdempotencyStore.builder(pool);
  }

  private static void verify(PostgresIdempotencyStore.Builder store, Procedure... procedures) {
    Things.verify(store.build(), procedures);
  }
}
