package io.github.grpcidempotency.admin;

import static io.github.grpcidempotency.admin.Shop.ACT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.admin.AdministrationException.Problem;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.spi.Claim;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nobody can do more than was granted. */
class RightsTest {
  @RegisterExtension static final Shop shop = Shop.open();

  private static final String FUNCTIONS =
      """
      SELECT p.proname
        FROM pg_proc AS p
       WHERE p.pronamespace = 'idempotency'::regnamespace
         AND has_function_privilege('%s', p.oid, 'EXECUTE')
       ORDER BY 1
      """;

  private static final String TABLES =
      """
      SELECT c.relname || ' ' || privilege
        FROM pg_class AS c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) AS privilege
       WHERE c.relnamespace = 'idempotency'::regnamespace
         AND c.relkind IN ('r', 'v', 'm', 'p')
         AND has_table_privilege('%s', c.oid, privilege)
       ORDER BY 1
      """;

  @Test
  void eachRoleMayCallItsFunctionsAndNoOther() {
    shop.createRole("admin_nobody");

    assertThat(shop.rows(FUNCTIONS.formatted(Shop.OPERATOR)))
        .containsExactly(
            "current_user_id",
            "current_user_ids",
            "operator_audit",
            "operator_delete",
            "operator_erase",
            "operator_find",
            "operator_is_running",
            "operator_sweep",
            "statistics");
    assertThat(shop.rows(FUNCTIONS.formatted(Shop.READER)))
        .containsExactly(
            "current_user_id",
            "current_user_ids",
            "operator_contents",
            "operator_request_contents");
    assertThat(shop.rows(FUNCTIONS.formatted(Shop.APP)))
        .containsExactly(
            "answer_beginnings",
            "answers_after",
            "current_user_id",
            "current_user_ids",
            "in_flight",
            "refer_if_it_stands",
            "refuse_claim",
            "refuse_commit",
            "renew_leases",
            "statistics",
            "sweep_expired");
    assertThat(shop.rows(FUNCTIONS.formatted("admin_nobody")))
        .containsExactly("current_user_id", "current_user_ids");
  }

  @Test
  void operatorsHaveNoRightOnAnyTable() {
    assertThat(shop.rows(TABLES.formatted(Shop.OPERATOR))).isEmpty();
    assertThat(shop.rows(TABLES.formatted(Shop.READER))).isEmpty();
    assertThat(shop.rows(TABLES.formatted(Shop.APP)))
        .noneMatch(right -> right.startsWith("idempotency_audit"));
  }

  @Test
  void everyFunctionThatRunsAsItsOwnerHasItsSearchPathPinned() {
    assertThat(
            shop.rows(
                """
                SELECT p.proname
                  FROM pg_proc AS p
                 WHERE p.pronamespace = 'idempotency'::regnamespace
                   AND p.prosecdef
                   AND NOT 'search_path=pg_catalog, pg_temp' = ANY (COALESCE(p.proconfig, '{}'))
                """))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {Shop.OPERATOR, Shop.READER, Shop.APP})
  void nobodyForgesOrChangesAnAct(String role) {
    UUID id = shop.record().operationId();
    assertThat(shop.operator().free(id, ACT, false, false)).isEqualTo(ActResult.ALREADY_RECORDED);

    for (String forgery :
        List.of(
            "INSERT INTO idempotency.idempotency_audit (actor, act, result, reason)"
                + " VALUES ('eve', 'free', 'done', 'x')",
            "UPDATE idempotency.idempotency_audit SET actor = 'eve'",
            "DELETE FROM idempotency.idempotency_audit",
            "TRUNCATE idempotency.idempotency_audit",
            "SELECT * FROM idempotency.idempotency_audit",
            "ALTER TABLE idempotency.idempotency_audit DISABLE TRIGGER ALL",
            "SELECT nextval('idempotency.idempotency_audit_id_seq')")) {
      assertForbidden(role, forgery);
    }
    assertThat(shop.operator().audit(AuditQuery.newest(10))).hasSize(1);
  }

  @Test
  void anOperatorCannotNameAnotherAct() {
    assertThatThrownBy(
            () ->
                shop.execute(
                    Shop.OPERATOR,
                    "SELECT idempotency.operator_delete('sweep', gen_random_uuid(), 'eve', 'x', true,"
                        + " false)"))
        .hasMessageContaining("an operation is deleted by free or forget, not by sweep");
  }

  @Test
  void theRoleInTheAuditIsTheOneThatHasConnected() {
    shop.createRole("admin_deputy");
    shop.superuser().useHandle(handle -> handle.execute("GRANT admin_operator TO admin_deputy"));
    Jdbi.create(shop.as("admin_deputy"))
        .useHandle(
            handle -> {
              handle.execute("SET ROLE admin_operator");
              handle
                  .createQuery(
                      "SELECT idempotency.operator_delete('forget', gen_random_uuid(), 'ada', 'why', true, false)")
                  .mapTo(String.class)
                  .one();
            });

    assertThat(shop.operator().audit(AuditQuery.newest(1)).get(0).role()).isEqualTo("admin_deputy");
  }

  @Test
  void notEvenTheOwnerChangesOrDeletesAnAct() {
    assertThat(shop.operator().free(UUID.randomUUID(), ACT, false, false))
        .isEqualTo(ActResult.NOT_FOUND);

    for (String change :
        List.of(
            "UPDATE idempotency.idempotency_audit SET actor = 'eve'",
            "DELETE FROM idempotency.idempotency_audit")) {
      assertThatThrownBy(() -> shop.execute(Shop.OWNER, change))
          .hasMessageContaining("an act of an operator is neither changed nor deleted");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {Shop.OPERATOR, Shop.READER})
  void operatorsReadAndChangeNoRowByThemselves(String role) {
    shop.record();
    for (String statement :
        List.of(
            "SELECT * FROM idempotency.idempotency_keys",
            "SELECT response_bytes FROM idempotency.idempotency_keys",
            "UPDATE idempotency.idempotency_keys SET lease_expires = NULL",
            "DELETE FROM idempotency.idempotency_keys",
            "TRUNCATE idempotency.idempotency_keys",
            "SELECT * FROM idempotency.idempotency_waits",
            "INSERT INTO idempotency.idempotency_waits VALUES (1)",
            "SELECT idempotency.grant_contents_to('admin_operator')",
            "SELECT idempotency.grant_operator_to('admin_reader')",
            "CREATE TABLE idempotency.x ()")) {
      assertForbidden(role, statement);
    }
  }

  @Test
  void contentsNeedTheirOwnRight() {
    UUID id = shop.record().operationId();

    assertThatThrownBy(() -> shop.operator().contents(id, ACT))
        .isInstanceOfSatisfying(
            AdministrationException.class,
            missing -> assertThat(missing.problem()).isEqualTo(Problem.RIGHT_MISSING))
        .hasMessage(
            "the role admin_operator lacks the right to read recorded answers: call SELECT"
                + " idempotency.grant_contents_to('admin_operator') as admin_owner");
    assertThat(shop.operator().find(id).toString()).doesNotContain("an answer");
    Map<String, Object> found =
        Jdbi.create(shop.as(Shop.OPERATOR))
            .withHandle(
                handle ->
                    handle
                        .createQuery(
                            "SELECT (f.operation).* FROM idempotency.operator_find(?) AS f")
                        .bind(0, id)
                        .mapToMap()
                        .one());
    assertThat(found)
        .doesNotContainKeys("response_bytes", "status_bytes", "request_hash")
        .containsEntry("answer_bytes", "an answer".length());
  }

  @Test
  void theRightToContentsIncludesNoOtherRight() {
    UUID id = shop.record().operationId();

    assertThatThrownBy(() -> shop.reader().forget(id, ACT, false))
        .hasMessage(
            "the role admin_reader lacks the right to work as an operator: call SELECT"
                + " idempotency.grant_operator_to('admin_reader') as admin_owner");
    assertThatThrownBy(() -> shop.reader().find(id)).isInstanceOf(AdministrationException.class);
    assertThatThrownBy(() -> shop.reader().sweep(ACT)).isInstanceOf(AdministrationException.class);
  }

  @Test
  void contentsAreNotShownBeforeTheirActIsCommitted() {
    UUID id = shop.record().operationId();
    Jdbi.create(shop.as(Shop.READER))
        .useHandle(
            handle -> {
              handle.begin();
              long request = requestContents(handle, id);
              assertThat(contents(handle, request)).isEmpty();
              handle.execute("SAVEPOINT inner_one");
              long inner = requestContents(handle, id);
              handle.execute("RELEASE SAVEPOINT inner_one");
              assertThat(contents(handle, inner)).as("of a subtransaction").isEmpty();
              handle.rollback();
              assertThat(contents(handle, request)).as("rolled back").isEmpty();

              long committed = requestContents(handle, id);
              assertThat(contents(handle, committed)).hasSize(1);
            });
  }

  @Test
  void contentsAreShownToTheRoleThatHasRequestedThemForAMinute() {
    UUID id = shop.record().operationId();
    shop.createRole("admin_other_reader");
    shop.execute(Shop.OWNER, "SELECT idempotency.grant_contents_to('admin_other_reader')");
    try (Handle reader = Jdbi.create(shop.as(Shop.READER)).open();
        Handle other = Jdbi.create(shop.as("admin_other_reader")).open()) {
      long request = requestContents(reader, id);

      assertThat(contents(other, request)).isEmpty();
      assertThat(contents(reader, request)).hasSize(1);
      shop.superuser()
          .useTransaction(
              handle -> {
                handle.execute("SET LOCAL session_replication_role = replica");
                handle.execute(
                    "UPDATE idempotency.idempotency_audit SET at = at - interval '1 minute'");
              });
      assertThat(contents(reader, request)).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {Shop.APP, Shop.OPERATOR, Shop.READER})
  void settingTheOperatorsSettingGrantsNothing(String role) {
    Claim recorded = shop.record();
    Claim running = shop.claim();
    UUID expiring = shop.record().operationId();
    List<String> before = shop.rows("SELECT k::text FROM idempotency.idempotency_keys AS k");

    try (Handle handle = Jdbi.create(shop.as(role)).open()) {
      handle.execute("SET idempotency.operator = 'on'");
      if (!role.equals(Shop.APP)) {
        assertForbidden(handle, "SELECT * FROM idempotency.idempotency_keys");
        assertForbidden(handle, "SELECT idempotency.sweep_expired(10)");
        return;
      }
      assertThat(list(handle, "SELECT * FROM idempotency.idempotency_keys")).isEmpty();
      assertThat(handle.execute("UPDATE idempotency.idempotency_keys SET procedure = 'x'"))
          .isZero();
      assertThat(handle.execute("DELETE FROM idempotency.idempotency_keys")).isZero();
      assertForbidden(handle, "SELECT * FROM idempotency.operator_find(gen_random_uuid())");

      assertThat(
              handle
                  .createQuery(
                      "SELECT idempotency.renew_leases(ARRAY[:id], ARRAY[1], interval '1 hour')")
                  .bind("id", recorded.operationId())
                  .mapTo(UUID.class)
                  .list())
          .as("a record is not renewed")
          .isEmpty();
      assertThat(
              handle
                  .createQuery(
                      "SELECT idempotency.in_flight(ARRAY[:recorded, :running], ARRAY[:user,"
                          + " :other], ARRAY['', ''], ARRAY['', ''], ARRAY[1::bigint, 2::bigint])")
                  .bind("recorded", recorded.request().key().value())
                  .bind("user", recorded.request().key().caller().userId())
                  .bind("running", running.request().key().value())
                  .bind("other", running.request().key().caller().userId())
                  .mapTo(Long.class)
                  .list())
          .as("only what is in flight is told")
          .containsExactly(2L);
      assertThat(
              handle
                  .createQuery("SELECT idempotency.sweep_expired(1000)")
                  .mapTo(Integer.class)
                  .one())
          .isZero();
      handle
          .createQuery(
              "SELECT idempotency.refer_if_it_stands(:id, 1, 'order_id', gen_random_uuid())::text")
          .bind("id", expiring)
          .mapTo(String.class)
          .list();
    }
    assertThat(shop.rows("SELECT k::text FROM idempotency.idempotency_keys AS k"))
        .isEqualTo(before);
  }

  @Test
  void theSettingIsOffAgainOnceAFunctionHasReturnedOrFailed() {
    UUID id = shop.record().operationId();
    shop.execute(
        Shop.OWNER,
        """
        CREATE FUNCTION idempotency.visible() RETURNS bigint
          LANGUAGE sql SECURITY DEFINER
          AS 'SELECT count(*) FROM idempotency.idempotency_keys'
        """);
    for (Map.Entry<String, String> call :
        Map.of(
                "SELECT count(*) FROM idempotency.operator_find('%s')",
                Shop.OPERATOR,
                "SELECT count(*) FROM idempotency.operator_find(NULL, 'k')",
                Shop.OPERATOR,
                "SELECT count(*) FROM idempotency.operator_find()",
                Shop.OPERATOR,
                "SELECT idempotency.operator_delete('free', '%s', 'a', 'b', true, false)",
                Shop.OPERATOR,
                "SELECT idempotency.operator_delete('forget', '%s', 'a', 'b', true, true)",
                Shop.OPERATOR,
                "SELECT request FROM idempotency.operator_request_contents('%s', 'a', 'b')",
                Shop.READER,
                "SELECT count(*) FROM idempotency.operator_contents(1)",
                Shop.READER)
            .entrySet()) {
      try (Handle handle = Jdbi.create(shop.as(call.getValue())).open()) {
        handle.begin();
        assertThat(list(handle, "SELECT idempotency.visible() AS n"))
            .containsExactly(Map.of("n", 0L));
        list(handle, call.getKey().formatted(id));
        assertThat(list(handle, "SELECT idempotency.visible() AS n"))
            .as(call.getKey())
            .containsExactly(Map.of("n", 0L));
        handle.execute("SAVEPOINT before");
        assertThatThrownBy(
            () -> list(handle, "SELECT * FROM idempotency.operator_find(continued => 'x')"));
        handle.execute("ROLLBACK TO SAVEPOINT before");
        assertThat(list(handle, "SELECT idempotency.visible() AS n"))
            .containsExactly(Map.of("n", 0L));
        handle.rollback();
      }
    }
    shop.execute(Shop.OWNER, "DROP FUNCTION idempotency.visible()");
  }

  @Test
  void theApplicationReadsStatisticsAndNothingElseOfAllUsers() {
    shop.claim(Shop.request(Caller.of(UUID.randomUUID()), "key"));

    assertThat(Administration.on(shop.as(Shop.APP)).statistics().inFlight().orElseThrow().all())
        .isEqualTo(1);
    assertThatThrownBy(() -> Administration.on(shop.as(Shop.APP)).list(OperationQuery.all()))
        .isInstanceOf(AdministrationException.class);
  }

  private static long requestContents(Handle handle, UUID id) {
    return handle
        .createQuery("SELECT request FROM idempotency.operator_request_contents(?, 'ada', 'why')")
        .bind(0, id)
        .mapTo(Long.class)
        .one();
  }

  private static List<Map<String, Object>> contents(Handle handle, long request) {
    return handle
        .createQuery("SELECT * FROM idempotency.operator_contents(?)")
        .bind(0, request)
        .mapToMap()
        .list();
  }

  private static List<Map<String, Object>> list(Handle handle, String sql) {
    return handle.createQuery(sql).mapToMap().list();
  }

  private static void assertForbidden(String role, String statement) {
    try (Handle handle = Jdbi.create(shop.as(role)).open()) {
      assertForbidden(handle, statement);
    }
  }

  private static void assertForbidden(Handle handle, String statement) {
    assertThatThrownBy(() -> handle.execute(statement))
        .as(statement)
        .cause()
        .hasMessageMatching("(?s).*(permission denied|must be owner).*");
  }
}
