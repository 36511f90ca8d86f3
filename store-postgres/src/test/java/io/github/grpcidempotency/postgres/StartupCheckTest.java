package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Problems that would make the store fail or leak later are found before the first call. */
class StartupCheckTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  @Test
  void aRoleThatBypassesRowLevelSecurityIsRefused() {
    database.execute("CREATE ROLE bypasser LOGIN BYPASSRLS");
    database.execute("SELECT idempotency.grant_to('bypasser')");

    assertThatVerifying(urlOf("bypasser")).hasMessageContaining("bypasser has BYPASSRLS");
  }

  @Test
  void aMemberOfTheTablesOwnerIsRefused() {
    database.execute("CREATE ROLE deputy LOGIN IN ROLE things_owner");
    database.execute("SELECT idempotency.grant_to('deputy')");

    assertThatVerifying(urlOf("deputy")).hasMessageContaining("or is a member of its owner");
  }

  @Test
  void aTableWhoseRowLevelSecurityIsOffOrNotForcedIsRefused() {
    database.execute("ALTER TABLE idempotency.idempotency_keys NO FORCE ROW LEVEL SECURITY");
    assertThatVerifying(database.appUrl()).hasMessageContaining("is not enabled and forced");

    database.execute("ALTER TABLE idempotency.idempotency_keys FORCE ROW LEVEL SECURITY");
    database.execute("ALTER TABLE idempotency.idempotency_keys DISABLE ROW LEVEL SECURITY");
    assertThatVerifying(database.appUrl()).hasMessageContaining("is not enabled and forced");
    database.execute("ALTER TABLE idempotency.idempotency_keys ENABLE ROW LEVEL SECURITY");
  }

  @Test
  void aMissingRightIsNamedWithItsRemedy() {
    for (String missing :
        List.of(
            "UPDATE ON idempotency.idempotency_keys",
            "ALL ON FUNCTION idempotency.renew_leases",
            "ALL ON FUNCTION idempotency.sweep_expired",
            "SELECT ON idempotency.idempotency_facts",
            "ALL ON FUNCTION idempotency.refuse_commit",
            "USAGE ON SCHEMA idempotency")) {
      database.execute("REVOKE " + missing + " FROM things_app");

      assertThatVerifying(database.appUrl())
          .hasMessageContaining("call SELECT idempotency.grant_to('things_app')");
      database.execute("SELECT idempotency.grant_to('things_app')");
    }
    verify(database.appUrl(), Things.CREATE_THING);
  }

  @Test
  void aSchemaOfAnEarlierReleaseIsRefusedInOneSentence() {
    try (TestDatabase older = TestDatabase.create()) {
      older.execute("UPDATE idempotency.idempotency_facts SET value = '0' WHERE name = 'version'");

      assertThatVerifying(older.appUrl(), Things.CREATE_THING)
          .hasMessage(
              "idempotency cannot be set up:\n"
                  + "  the schema idempotency is of an earlier release: its version is 0, and this"
                  + " server needs 2; migrate it with IdempotencySchema, or idempotency migrate,"
                  + " before this server starts");
    }
  }

  @Test
  void aResourceTypeWithoutItsColumnOrItsForeignKeyIsRefused() {
    database.execute("ALTER TABLE idempotency.idempotency_keys ADD COLUMN gadget_id uuid");

    assertThatVerifying(database.appUrl(), otherOf("widget"))
        .hasMessageContaining("add_resource_type('widget', …)");
    assertThatVerifying(database.appUrl(), otherOf("gadget"))
        .hasMessageContaining("add_resource_type('gadget', …)");
  }

  @Test
  void aPoolThatMayWaitWithoutEndForASilentDatabaseIsReported() {
    for (boolean set : List.of(true, false)) {
      try (LogLines log = LogLines.listen();
          HikariDataSource pool = new HikariDataSource()) {
        pool.setJdbcUrl(database.appUrl() + (set ? "&socketTimeout=9" : ""));
        PostgresIdempotencyStore.builder(pool).build().verify(List.of(), Optional.empty());

        assertThat(log.warnings().stream().filter(line -> line.contains("sets no socketTimeout")))
            .hasSize(set ? 0 : 1);
      }
    }
  }

  private static Procedure otherOf(String resourceType) {
    return Procedure.of(ThingServiceGrpc.getCreateOtherMethod())
        .execution(Execution.RESERVED)
        .resource(ResourceType.of(resourceType), thing -> ResourceId.of(thing.getId()))
        .build();
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertThatVerifying(
      String url, Procedure... procedures) {
    return assertThatThrownBy(() -> verify(url, procedures))
        .isInstanceOf(IllegalStateException.class);
  }

  private static void verify(String url, Procedure... procedures) {
    try (HikariDataSource pool = PostgresThingServer.pool(url)) {
      Things.verify(PostgresIdempotencyStore.builder(pool).build(), procedures);
    }
  }

  private static String urlOf(String role) {
    return database.appUrl().replace("user=things_app", "user=" + role);
  }
}
