package io.github.grpcidempotency.postgres;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.common.collect.Sets;
import com.google.common.io.Resources;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.LockId;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedProcedure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class IsolationTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  /** The user on whose behalf a statement runs. */
  private enum Actor {
    OWNER_OF_THE_ROW,
    SAME_USER_IN_ANOTHER_TENANT,
    ANOTHER_USER,
    NOBODY
  }

  /** The row of the key before a statement. */
  private enum Row {
    NONE,
    IN_FLIGHT,
    ABANDONED,
    EXPIRED,
    COMPLETED
  }

  /**
   * Every statement on one user's rows, by the name of its file, and the row that it is tried on.
   */
  private static final Map<String, Row> STATEMENTS =
      Map.ofEntries(
          entry("claim/claim", Row.NONE),
          entry("transaction/claim", Row.COMPLETED),
          entry("transaction/delete_ended", Row.EXPIRED),
          entry("settle/complete", Row.IN_FLIGHT),
          entry("settle/update", Row.IN_FLIGHT),
          entry("settle/is_completed", Row.COMPLETED),
          entry("claim/extend", Row.IN_FLIGHT),
          entry("claim/find", Row.COMPLETED),
          entry("settle/mark_unknown", Row.IN_FLIGHT),
          entry("settle/lock", Row.IN_FLIGHT),
          entry("claim/select_record", Row.COMPLETED),
          entry("operation/forget", Row.COMPLETED),
          entry("operation/select_operations", Row.COMPLETED),
          entry("check/probe_foreign", Row.IN_FLIGHT),
          entry("check/probe_forget", Row.IN_FLIGHT),
          entry("claim/delete_expired", Row.EXPIRED),
          entry("transaction/find_owner", Row.COMPLETED),
          entry("transaction/record", Row.NONE),
          entry("transaction/record_failure", Row.NONE),
          entry("settle/release", Row.IN_FLIGHT),
          entry("claim/retain", Row.COMPLETED),
          entry("claim/take_over", Row.ABANDONED));

  /** Every statement for several calls, and the row that it is tried on. */
  private static final Map<String, Row> BATCHES =
      Map.of(
          "claim/claim_batch", Row.NONE,
          "settle/complete_batch", Row.IN_FLIGHT,
          "settle/release_batch", Row.IN_FLIGHT);

  /** Statements without a user. They see nothing but what they name themselves. */
  private static final Set<String> MAINTENANCE =
      Set.of(
          "check/answer_beginnings",
          "maintenance/announce_waits",
          "maintenance/in_flight",
          "maintenance/is_in_flight",
          "maintenance/renew",
          "maintenance/sweep",
          "maintenance/sweep_lag",
          "maintenance/wake",
          "maintenance/wake_batch",
          "operation/answers_after");

  /** Part of others, and tried by itself: it tells nothing, whatever it has done. */
  private static final Set<String> TACIT = Set.of("settle/refer");

  /** They tell by an error that there is a row, or that there is none. */
  private static final Set<String> REFUSING = Set.of("settle/join");

  /** Statements that read no row of the table. */
  private static final Set<String> OTHERS =
      Set.of(
          "transaction/begin",
          "check/answer_beginnings",
          "check/operation_index",
          "operation/answers_after",
          "operation/statuses",
          "settle/is_open",
          "settle/same_time_line",
          "settle/same_time_line_batch",
          "claim/time_line",
          "check/time_line",
          "check/fact",
          "check/flush",
          "check/leak",
          "check/probe_refusal",
          "check/resource_columns",
          "check/place",
          "check/pool",
          "check/schema",
          "check/tables",
          "transaction/may_record",
          "transaction/rollback_with_status",
          "transaction/claim_at_commit",
          "transaction/taken",
          "transaction/use");

  private final KeyTable table = new KeyTable(database);
  private static final IdempotencyStore store =
      PostgresIdempotencyStore.builder(database.app()).lease(Duration.ofMinutes(5)).build();

  @Test
  void theMatrixHasEveryStatementOfTheStore() throws Exception {
    Path folder = Path.of(Resources.getResource(IsolationTest.class, "sql").toURI());
    try (Stream<Path> files = Files.walk(folder).filter(Files::isRegularFile)) {
      assertThat(files.map(file -> folder.relativize(file).toString().replace(".sql", "")))
          .containsExactlyInAnyOrderElementsOf(
              Sets.union(
                  Sets.union(
                      Sets.union(STATEMENTS.keySet(), BATCHES.keySet()),
                      Sets.union(TACIT, REFUSING)),
                  Sets.union(MAINTENANCE, OTHERS)));
    }
  }

  /**
   * Even where a statement names the owner of the row, as a faulty store might, row-level security
   * lets no other user see or touch it.
   */
  @ParameterizedTest
  @MethodSource("matrix")
  void aStatementWorksForTheUserOfTheRowOnly(String statement, Row before, Actor actor) {
    UUID owner = UUID.randomUUID();
    ClaimRequest request = rowOf(owner, before);
    List<String> rows = table.rowsOf(owner);

    boolean seen = isSeen(actor, owner, handle -> rows(handle, statement, request));
    boolean changed = !table.rowsOf(owner).equals(rows);

    assertThat(seen || changed).isEqualTo(actor == Actor.OWNER_OF_THE_ROW);
  }

  @ParameterizedTest
  @MethodSource("batches")
  void aStatementForSeveralCallsWorksForTheirUsersOnly(String statement, Row before, Actor actor) {
    UUID owner = UUID.randomUUID();
    ClaimRequest request = rowOf(owner, before);
    List<String> rows = table.rowsOf(owner);

    boolean seen =
        !as(
                "app.current_user_ids",
                user -> "{%s,%s}".formatted(UUID.randomUUID(), user),
                actor,
                owner,
                handle ->
                    StatementBatch.runForRows(
                        handle.getConnection(),
                        unscoped(statement),
                        values -> bindBatch(values, request),
                        row -> Map.<String, Object>of()))
            .isEmpty();
    boolean changed = !table.rowsOf(owner).equals(rows);

    assertThat(seen).isEqualTo(actor == Actor.OWNER_OF_THE_ROW);
    assertThat(changed).isEqualTo(actor == Actor.OWNER_OF_THE_ROW);
  }

  /** To others it is as if nobody had the key: they get the same error as an owner who lost it. */
  @ParameterizedTest
  @EnumSource
  void anAnswerIsJoinedToTheUsersOwnRowOnly(Actor actor) {
    UUID owner = UUID.randomUUID();
    ClaimRequest request = rowOf(owner, Row.IN_FLIGHT);
    List<String> rows = table.rowsOf(owner);
    Work write = handle -> rows(handle, "settle/join", request);

    if (actor == Actor.OWNER_OF_THE_ROW) {
      assertThat(as(actor, owner, write)).isEmpty();
      assertThat(table.rowsOf(owner)).hasSize(1).isNotEqualTo(rows);
    } else {
      assertThatThrownBy(() -> as(actor, owner, write))
          .isInstanceOfSatisfying(
              JdbiException.class, refused -> assertThat(Failures.isClaimLost(refused)).isTrue())
          .hasMessageNotContainingAny(owner.toString(), request.key().value());
      assertThat(table.rowsOf(owner)).isEqualTo(rows);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aReferenceIsSetForTheUserOfTheRowOnly(Actor actor) {
    UUID owner = UUID.randomUUID();
    Claim claim = Things.win(store, requestOf(owner));
    UUID thing = UUID.randomUUID();
    database.execute("INSERT INTO app.things (id, user_id, name) VALUES (?, ?, '')", thing, owner);
    String refer =
        SqlFiles.of(IdempotencySchema.DEFAULT_NAME)
            .with("attempt", ":attempt")
            .with("column", "thing_id")
            .with("value", "CAST(:resource_id AS uuid)")
            .load("settle/refer");

    List<Map<String, Object>> told =
        as(
            actor,
            owner,
            handle ->
                handle
                    .createQuery(refer.replace(";", ""))
                    .bind("id", claim.operationId())
                    .bind("attempt", 1)
                    .bind("resource_id", thing)
                    .mapToMap()
                    .list());

    assertThat(told.toString()).isEqualTo("[{refer_if_it_stands=}]");
    assertThat(table.rowsOf(owner).toString().contains(thing.toString()))
        .isEqualTo(actor == Actor.OWNER_OF_THE_ROW);
  }

  @ParameterizedTest
  @EnumSource
  void aRenewalWorksForEveryActorWithIdAndAttemptAndRevealsNothingElse(Actor actor) {
    UUID owner = UUID.randomUUID();
    Claim claim = Things.win(store, requestOf(owner));
    String renew = SqlFiles.of(IdempotencySchema.DEFAULT_NAME).load("maintenance/renew");

    for (int attempt = 1; attempt <= 2; attempt++) {
      int fence = attempt;
      List<Map<String, Object>> told =
          as(
              actor,
              owner,
              handle ->
                  handle
                      .createQuery(renew)
                      .bindArray("ids", UUID.class, claim.operationId())
                      .bindArray("attempts", Integer.class, fence)
                      .bind("lease_millis", 60_000)
                      .mapToMap()
                      .list());
      assertThat(told.toString())
          .isEqualTo(fence == 1 ? "[{renewed=" + claim.operationId() + "}]" : "[]");
    }
  }

  @ParameterizedTest
  @EnumSource
  void inFlightRevealsOnlyTheLocksInItsArguments(Actor actor) {
    UUID owner = UUID.randomUUID();
    ClaimRequest request = rowOf(owner, Row.IN_FLIGHT);
    String inFlight = SqlFiles.of(IdempotencySchema.DEFAULT_NAME).load("maintenance/in_flight");

    List<Map<String, Object>> told =
        as(
            actor,
            owner,
            handle ->
                handle
                    .createQuery(inFlight)
                    .bindArray("keys", String.class, request.key().value(), "no such key")
                    .bindArray("user_uuids", UUID.class, owner, owner)
                    .bindArray("tenants", String.class, "", "")
                    .bindArray("projects", String.class, "", "")
                    .bindArray("locks", Long.class, 1L, 2L)
                    .mapToMap()
                    .list());

    assertThat(told.toString()).isEqualTo("[{running=1}]");
  }

  @ParameterizedTest
  @EnumSource
  void aSweepWorksForEveryActorAndRevealsOnlyANumber(Actor actor) {
    UUID owner = UUID.randomUUID();
    rowOf(owner, Row.EXPIRED);
    String sweep = SqlFiles.of(IdempotencySchema.DEFAULT_NAME).load("maintenance/sweep");

    List<Map<String, Object>> told =
        as(
            actor,
            owner,
            handle ->
                handle
                    .createQuery(sweep)
                    .bind("batch", 1_000)
                    .bind("before", (String) null)
                    .mapToMap()
                    .list());

    assertThat(told)
        .singleElement()
        .asString()
        .matches("\\{swept=\\d+, transaction=\\d+, kept=null}");
    assertThat(table.rowsOf(owner)).isEmpty();
  }

  private static Stream<Arguments> matrix() {
    return matrix(STATEMENTS);
  }

  private static Stream<Arguments> batches() {
    // Calls of several tenants are in one batch.
    return matrix(BATCHES).filter(each -> each.get()[2] != Actor.SAME_USER_IN_ANOTHER_TENANT);
  }

  private static Stream<Arguments> matrix(Map<String, Row> statements) {
    return statements.entrySet().stream()
        .flatMap(
            statement ->
                Stream.of(Actor.values())
                    .map(actor -> arguments(statement.getKey(), statement.getValue(), actor)));
  }

  /** Returns a statement without its first part, which would set the user. */
  private static String unscoped(String name) {
    String schema = IdempotencySchema.DEFAULT_NAME;
    if (name.equals("claim/select_record")) {
      return ProcedureSql.selectRecord(RecordedProcedure.of(Things.CREATE_THING), schema);
    }
    SqlFiles files = SqlFiles.of(schema, false, false, false);
    String sql =
        files
            .with(
                "select_record",
                ProcedureSql.selectRecord(RecordedProcedure.of(Things.CREATE_THING), schema))
            .with("settings", "")
            .with("expired", "")
            .with("resource", name.startsWith("operation/") ? "k.thing_id" : "")
            .with("reference", "")
            .with("column", "")
            .with("value", "")
            .with("which", "k.id = :id")
            .with("update", files.with("resource", "").load("settle/update"))
            .with("commit", REFUSING.contains(name) ? "" : "COMMIT")
            .with("restored_lock_timeout", "true")
            .load(name)
            .replaceFirst("; SELECT true$", "");
    Matcher user = SETS_USERS.matcher(sql);
    return user.find() ? sql.substring(sql.indexOf(';', user.start()) + 1) : sql;
  }

  private static final Pattern SETS_USERS =
      Pattern.compile("SELECT set_config\\('app.current_user_ids?', :users?, true\\)");

  private static List<Map<String, Object>> rows(
      Handle handle, String statement, ClaimRequest request) {
    OffsetDateTime expiry =
        handle.select("SELECT now()").mapTo(OffsetDateTime.class).one().plus(retention(statement));
    return StatementBatch.run(
            handle.getConnection(),
            unscoped(statement),
            values -> bind(values, statement, request).bind("expires", expiry),
            row -> Map.<String, Object>of())
        .stream()
        .toList();
  }

  private interface Work {
    List<Map<String, Object>> on(Handle handle);
  }

  /** Returns whether a statement has returned a row; not if it has refused to find none. */
  private static boolean isSeen(Actor actor, UUID owner, Work work) {
    try {
      return !as(actor, owner, work).isEmpty();
    } catch (JdbiException refused) {
      if (!Failures.isClaimLost(refused)) {
        throw refused;
      }
      return false;
    }
  }

  /** Does something as the application. If the database forbids it, the result is empty. */
  private static List<Map<String, Object>> as(Actor actor, UUID owner, Work work) {
    return as("app.current_user_id", UUID::toString, actor, owner, work);
  }

  private static List<Map<String, Object>> as(
      String setting, Function<UUID, String> value, Actor actor, UUID owner, Work work) {
    try {
      return Jdbi.create(database.app())
          .inTransaction(
              handle -> {
                if (actor != Actor.NOBODY) {
                  UUID user = actor == Actor.ANOTHER_USER ? UUID.randomUUID() : owner;
                  boolean elsewhere = actor == Actor.SAME_USER_IN_ANOTHER_TENANT;
                  handle
                      .createQuery(
                          "SELECT set_config(:setting, :user, true)"
                              + " || set_config('idempotency.tenant', :tenant, true)")
                      .bind("setting", setting)
                      .bind("user", value.apply(user))
                      .bind("tenant", elsewhere ? "elsewhere" : "")
                      .mapTo(String.class)
                      .one();
                }
                return work.on(handle);
              });
    } catch (JdbiException forbidden) {
      if (!String.valueOf(forbidden.getMessage()).contains("violates row-level security policy")) {
        throw forbidden;
      }
      return List.of();
    }
  }

  private ClaimRequest rowOf(UUID owner, Row state) {
    ClaimRequest request = requestOf(owner);
    if (state == Row.NONE) {
      return request;
    }
    Claim claim = Things.win(store, request);
    switch (state) {
      case NONE -> throw new AssertionError();
      case IN_FLIGHT -> {}
      case ABANDONED -> table.endLeases(owner);
      case EXPIRED -> table.expire(owner);
      case COMPLETED -> claim.complete(Things.ANSWER);
    }
    return request;
  }

  private static ClaimRequest requestOf(UUID owner) {
    return Things.claimOf(owner, Things.CREATE_THING);
  }

  /** Fills in everything that any statement may ask for, all of it the owner's. */
  private static Parameters bind(Parameters values, String statement, ClaimRequest request) {
    UUID owner = request.key().caller().userId();
    return values
        .bindOperation(request, idOfTheRowOf(owner))
        .bind("attempt", 1)
        .bind("lease_millis", 60_000)
        .bind("server", "a server")
        .bind("retention_millis", retention(statement).toMillis())
        .bind("response", new byte[] {1})
        .bind("resource_id", "uuid", Optional.empty())
        .bind("cleared", "uuid", Optional.empty())
        .bind("keys", new String[] {request.key().value()})
        .bind("procedures", new String[] {Things.CREATE_THING.name()})
        .bind(
            "status",
            "bytea",
            Optional.of(new byte[] {1})
                .filter(some -> statement.equals("transaction/record_failure")));
  }

  private static Parameters bindBatch(Parameters values, ClaimRequest request) {
    UUID owner = request.key().caller().userId();
    return values
        .bind("ids", new UUID[] {idOfTheRowOf(owner)})
        .bind("keys", new String[] {request.key().value()})
        .bind("user_uuids", new UUID[] {owner})
        .bind("tenants", new String[] {""})
        .bind("projects", new String[] {""})
        .bind("procedures", new String[] {request.procedure().name()})
        .bind("hashes", new byte[][] {request.fingerprint().hash().toByteArray()})
        .bind("hash_versions", new Integer[] {request.fingerprint().version()})
        .bind("retentions", new Long[] {request.retention().toMillis()})
        .bind("traces", new byte[1][])
        .bind("locks", new Long[] {LockId.of(request.key())})
        .bind("lease_millis", 60_000)
        .bind("server", "a server")
        .bind("attempts", new Integer[] {1})
        .bind("responses", new byte[][] {{1}})
        .bind("statuses", new byte[1][])
        .bind("resource_ids", new String[1])
        .bind("time_lines", new String[1]);
  }

  /** A record is only retained longer if that is worth a write. */
  private static Duration retention(String statement) {
    return statement.equals("claim/retain") ? Duration.ofDays(30) : Duration.ofDays(1);
  }

  private static UUID idOfTheRowOf(UUID owner) {
    return database
        .list(UUID.class, "SELECT id FROM idempotency.idempotency_keys WHERE user_uuid = ?", owner)
        .stream()
        .findFirst()
        .orElseGet(UUID::randomUUID);
  }
}
