package io.github.grpcidempotency.admin;

import static io.github.grpcidempotency.admin.Shop.ACT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.admin.AdministrationException.Problem;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.UUID;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** What is wrong is said, with what to do about it. */
class ProblemsTest {
  @RegisterExtension static final Shop shop = Shop.open();

  @Test
  void theMessageForAMissingRightNamesTheGrant() {
    shop.createRole("admin_newcomer");
    Administration newcomer = Administration.on(shop.as("admin_newcomer"));

    assertProblem(Problem.RIGHT_MISSING, () -> newcomer.find(UUID.randomUUID()))
        .hasMessage(
            "the role admin_newcomer lacks the right to work as an operator: call SELECT"
                + " idempotency.grant_operator_to('admin_newcomer') as admin_owner");
  }

  @Test
  void aMissingSchemaIsNamed() {
    Administration elsewhere = Administration.on(shop.as(Shop.OPERATOR), "elsewhere");

    assertProblem(Problem.SCHEMA_MISSING, elsewhere::statistics)
        .hasMessage(
            "there is no schema elsewhere in this database: use another schema name, or run"
                + " idempotency migrate --schema elsewhere as the role that is to own it");
  }

  @Test
  void aSchemaOfAnOlderReleaseIsToBeMigrated() {
    shop.execute(Shop.OWNER, "CREATE SCHEMA older");
    shop.execute(Shop.OWNER, "GRANT USAGE ON SCHEMA older TO admin_operator");
    Administration older = Administration.on(shop.as(Shop.OPERATOR), "older");

    assertProblem(Problem.SCHEMA_TOO_OLD, () -> older.list(OperationQuery.all()))
        .hasMessageContaining("run idempotency migrate --schema");
    shop.execute(Shop.OWNER, "DROP SCHEMA older");
  }

  @Test
  void aSchemaOfAnotherNameIsAdministeredAsWell() {
    IdempotencySchema.migrate(shop.as(Shop.OWNER), "other_one");
    shop.execute(Shop.OWNER, "SELECT other_one.grant_operator_to('admin_operator')");
    Administration other = Administration.on(shop.as(Shop.OPERATOR), "other_one");

    assertThat(other.list(OperationQuery.all()).operations()).isEmpty();
    assertThat(other.find(shop.claim().operationId())).isEmpty();
    assertThat(other.free(UUID.randomUUID(), ACT, false, false)).isEqualTo(ActResult.NOT_FOUND);
    assertThat(shop.operator().statistics().inFlight().orElseThrow().all()).isEqualTo(1);
    assertThat(other.statistics().rows()).isZero();
    shop.execute(Shop.OWNER, "DROP SCHEMA other_one CASCADE");
  }

  @Test
  void aReadOnlyDatabaseIsRefusedForActionsOnly() {
    PGSimpleDataSource readOnly = new PGSimpleDataSource();
    readOnly.setUrl(shop.url(Shop.OPERATOR) + "&options=-c%20default_transaction_read_only=on");
    Administration standby = Administration.on(readOnly);
    UUID id = shop.record().operationId();

    assertThat(standby.find(id)).isPresent();
    assertThat(standby.statistics().inFlight().orElseThrow().all()).isZero();
    assertProblem(Problem.READ_ONLY, () -> standby.forget(id, ACT, false))
        .hasMessageContaining("connect to the primary");
    assertThat(standby.forget(id, ACT, true)).isEqualTo(ActResult.WOULD_BE_DONE);
  }

  @Test
  void aLockedTableEndsEveryQuestionAndEveryActWithItsReason() {
    UUID id = shop.record().operationId();
    Administration operator = shop.operator();
    try (Handle other = Jdbi.create(shop.as(Shop.OWNER)).open()) {
      other.begin();
      other.execute("LOCK TABLE idempotency.idempotency_keys IN ACCESS EXCLUSIVE MODE");

      assertProblem(Problem.OTHER, operator::statistics)
          .hasMessageContaining("another session has locked a table of the schema idempotency");
      assertProblem(Problem.OTHER, () -> operator.find(id))
          .hasMessageContaining("another session has locked a table of the schema idempotency");
      assertProblem(Problem.OTHER, () -> operator.free(id, ACT, false, false))
          .hasMessageContaining("another session has locked a table of the schema idempotency");
      other.rollback();
    }
  }

  @Test
  void aPolicyOfAnotherRoleIsNotMistakenForAnEmptyTable() {
    UUID id = shop.claim().operationId();
    shop.execute(
        Shop.OWNER, "ALTER POLICY operators ON idempotency.idempotency_keys TO admin_reader");

    assertProblem(Problem.OTHER, () -> shop.operator().find(id))
        .hasMessageContaining(
            "call ALTER POLICY operators ON idempotency.idempotency_keys TO admin_owner");

    shop.execute(
        Shop.OWNER, "ALTER POLICY operators ON idempotency.idempotency_keys TO admin_owner");
    assertThat(shop.operator().find(id)).isPresent();
  }

  @Test
  void noKeyIsInAFailure() {
    String key = "a-key-that-nobody-may-read";
    Administration elsewhere = Administration.on(shop.as(Shop.OPERATOR), "elsewhere");

    assertThatThrownBy(() -> elsewhere.findKey(key, Scope.ALL))
        .satisfies(
            failure -> {
              StringWriter trace = new StringWriter();
              failure.printStackTrace(new PrintWriter(trace));
              assertThat(trace.toString()).contains("elsewhere").doesNotContain(key);
            });
  }

  @Test
  void aSchemaNameIsAPlainIdentifier() {
    assertThatThrownBy(() -> Administration.on(shop.as(Shop.OPERATOR), "x; DROP SCHEMA y"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertProblem(
      Problem problem, ThrowingCallable work) {
    return assertThatThrownBy(work)
        .isInstanceOfSatisfying(
            AdministrationException.class,
            failure -> assertThat(failure.problem()).isEqualTo(problem));
  }
}
