package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.postgres.internal.check.SchemaCheck;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.spi.RecordedProcedure;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleConsumer;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A host may have its table of keys in partitions, and loses nothing by it. */
class PartitionsTest {
  @RegisterExtension static final TestDatabase plain = TestDatabase.create();
  @RegisterExtension static final TestDatabase partitioned = TestDatabase.partitioned();

  private static final String PARTITION = "SELECT idempotency.partition_keys(4)";
  private static final Duration EXPIRED = Duration.ofDays(-1);
  private static final Duration LIVE = Duration.ofDays(1);
  private static final Pattern NAME = Pattern.compile("(?<!:):([a-z_]+)");

  private final KeyTable table = new KeyTable(partitioned);

  @BeforeAll
  static void createFunctions() {
    TestDatabase.createPartitionFunctions(plain.owner());
  }

  @BeforeEach
  void empty() {
    table.clear();
    new KeyTable(plain).clear();
  }

  @Test
  void partitioningKeepsEveryRowAndEveryPropertyOfTheTable() {
    tryOn(
        plain,
        handle -> {
          handle.execute(
              """
              ALTER TABLE idempotency.idempotency_keys
                SET (fillfactor = 90, toast.vacuum_truncate = false),
                ADD COLUMN note text DEFAULT 'of the host''s own';
              COMMENT ON TABLE idempotency.idempotency_keys IS 'who has asked for what';
              CREATE INDEX "of the host" ON idempotency.idempotency_keys (lower(note));
              CREATE POLICY "of the host" ON idempotency.idempotency_keys
                AS RESTRICTIVE FOR UPDATE TO things_app USING (attempt > 0) WITH CHECK (true);
              GRANT SELECT ON idempotency.idempotency_keys TO pg_monitor WITH GRANT OPTION;
              SELECT idempotency.add_in_flight_index(), idempotency.add_operation_index();
              SELECT idempotency.add_resource_type('gizmo', NULL, enforced => false);
              """);
          addRows(handle, 1_000);
          List<String> rows = rows(handle);
          List<String> shape = shape(handle);

          asOwner(handle, PARTITION);

          assertThat(rows(handle)).hasSize(1_000).isEqualTo(rows);
          assertThat(shape(handle)).isEqualTo(shape);
          assertThat(options(handle))
              .containsExactlyInAnyOrder("fillfactor=90", "vacuum_truncate=false");
          assertThat(problems(handle)).isEmpty();
        });
  }

  @Test
  void objectsThatAHostAddsLaterAreAddedToEveryPartition() {
    tryOn(
        partitioned,
        handle -> {
          asOwner(
              handle,
              """
              SELECT idempotency.add_resource_type('gadget', 'app.things'),
                     idempotency.add_resource_type('gizmo', NULL, enforced => false),
                     idempotency.add_in_flight_index(),
                     idempotency.add_operation_index(),
                     idempotency.add_tenant_index()
              """);
          handle.execute("CREATE ROLE latecomer");
          asOwner(handle, "SELECT idempotency.grant_to('latecomer')");

          assertThat(
                  strings(
                      handle,
                      """
                      SELECT substring(pg_get_indexdef(indexrelid) FROM '\\(.*')
                        FROM pg_index
                       WHERE indrelid = 'idempotency.idempotency_keys_p2'::regclass
                      """))
              .contains(
                  "(id) WHERE (completed IS NULL)",
                  "(user_uuid, id)",
                  "(tenant, id) WHERE (tenant <> ''::text)",
                  "(gadget_id) WHERE (gadget_id IS NOT NULL)");
          assertThat(problems(handle, "latecomer")).isEmpty();
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "0", "1", "1025", "NULL"})
  void aNumberThatMakesNoSenseIsRefused(String partitions) {
    assertThatPartitioning("SELECT idempotency.partition_keys(" + partitions + ")")
        .hasMessageContaining("a table has 2 to 1024 partitions");
  }

  @Test
  void aTableIsPartitionedOnceAndByItsOwner() {
    assertThatThrownBy(() -> tryOn(plain, handle -> handle.execute(PARTITION)))
        .hasMessageContaining("only the owner of");
    assertThatThrownBy(() -> tryOn(partitioned, handle -> asOwner(handle, PARTITION)))
        .hasMessageContaining("is partitioned already");
  }

  @Test
  void partitioningIsRefusedIfItWouldLoseObjectsOfTheHost() {
    assertThatThrownBy(
            () ->
                tryOn(
                    plain,
                    handle -> {
                      handle.execute(
                          """
                          CREATE VIEW app.keys AS SELECT id FROM idempotency.idempotency_keys;
                          CREATE TRIGGER hosts BEFORE UPDATE ON idempotency.idempotency_keys
                            FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
                          CREATE TABLE app.hosts (of uuid REFERENCES idempotency.idempotency_keys);
                          """);
                      asOwner(handle, PARTITION);
                    }))
        .hasMessageContaining(
            "the foreign key hosts_of_fkey of app.hosts, the trigger hosts, the view app.keys");
  }

  /** Nobody can look past the policies of the table into a partition. */
  @Test
  void theApplicationReachesRowsThroughTheTableAlone() {
    tryOn(
        plain,
        handle -> {
          asOwner(
              handle,
              "ALTER DEFAULT PRIVILEGES IN SCHEMA idempotency GRANT ALL ON TABLES TO PUBLIC");
          asOwner(handle, PARTITION);
          addRows(handle, 20);

          assertThat(problems(handle)).isEmpty();
          handle.execute("SET LOCAL ROLE things_app");
          assertThat(strings(handle, "SELECT count(*)::text FROM idempotency.idempotency_keys"))
              .containsExactly("0");
          assertThatThrownBy(() -> handle.execute("TABLE idempotency.idempotency_keys_p1"))
              .hasMessageContaining("permission denied");
        });
  }

  @Test
  void aSweepTakesABatchOfTheExpiredRowsWhereverTheyLie() {
    table.add(100, EXPIRED);
    table.add(10, LIVE);

    assertThat(swept(30)).isEqualTo(30);
    assertThat(table.size()).isEqualTo(80);
    assertThat(swept(1_000)).isEqualTo(70);
    assertThat(swept(1_000)).isZero();
    assertThat(table.size()).isEqualTo(10);
  }

  @Test
  void statisticsAreTheSumOfThePartitions() {
    table.add(100, EXPIRED);
    table.add(300, LIVE);
    partitioned.execute("ANALYZE idempotency.idempotency_keys");

    Map<String, Object> statistics =
        Jdbi.create(partitioned.app())
            .withHandle(
                handle ->
                    handle.createQuery("SELECT * FROM idempotency.statistics()").mapToMap().one());

    assertThat(statistics).containsAllEntriesOf(Map.of("rows", 400L, "expired", 100L));
    assertThat((Long) statistics.get("bytes")).isGreaterThan(4L * 8_192);
  }

  /** Otherwise every call would look into every partition. */
  @Test
  void everyStatementWithAKeyScansOnePartition() {
    Jdbi.create(partitioned.owner())
        .useHandle(
            handle -> {
              handle.execute("SET plan_cache_mode = force_generic_plan");
              for (String statement : statementsWithAKey()) {
                List<String> plan = plan(handle, statement);
                assertThat(plan).anyMatch(line -> line.contains("Subplans Removed: 3"));
                assertThat(partitionsScanned(plan)).as("%s", plan).hasSize(1);
              }
            });
  }

  /** PostgreSQL estimates that a generic plan is cheap, so it does not plan for each execution. */
  @Test
  void theLookUpsOfATransactionAreNotPlannedForEachCall() {
    Jdbi.create(partitioned.owner())
        .useHandle(
            handle -> {
              for (String statement :
                  statementsWithAKey().stream().filter(each -> each.contains("LIMIT 1")).toList()) {
                handle.execute("SET plan_cache_mode = auto");
                assertThat(genericPlans(handle, statement)).as(statement).isPositive();
              }
            });
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ALTER TABLE idempotency.idempotency_keys DROP CONSTRAINT idempotency_keys_key | has no unique constraint
          GRANT SELECT ON idempotency.idempotency_keys_p1 TO things_app                 | SELECT on idempotency_keys_p1
          ALTER TABLE idempotency.idempotency_keys_p2 NO FORCE ROW LEVEL SECURITY       | p2 is not protected
          ALTER TABLE idempotency.idempotency_keys_p3 DISABLE ROW LEVEL SECURITY        | p3 is not protected
          DROP POLICY maintenance ON idempotency.idempotency_keys_p0                    | p0 is not swept
          ALTER TABLE idempotency.idempotency_keys_p0 OWNER TO postgres                 | p0 is not swept
          """)
  void partitionsThatDoNotProtectAreRefused(String damage, String problem) {
    tryOn(
        partitioned,
        handle -> {
          assertThat(problems(handle)).isEmpty();
          handle.execute(damage);
          assertThat(problems(handle)).singleElement().asString().contains(problem);
        });
  }

  @Test
  void aTableWhoseKeysAreNotUniqueIsRefused() {
    tryOn(
        plain,
        handle -> {
          handle.execute(
              """
              ALTER TABLE idempotency.idempotency_keys DROP CONSTRAINT idempotency_keys_key;
              CREATE UNIQUE INDEX partial ON idempotency.idempotency_keys
                (idempotency_key, user_uuid, tenant, project) WHERE attempt > 0;
              CREATE INDEX ordinary ON idempotency.idempotency_keys (idempotency_key, user_uuid, tenant, project);
              CREATE UNIQUE INDEX narrow ON idempotency.idempotency_keys (idempotency_key, user_uuid);
              """);
          assertThat(problems(handle))
              .singleElement()
              .asString()
              .contains(
                  "has no unique constraint on (idempotency_key, user_uuid, tenant, project)");

          handle.execute(
              "CREATE UNIQUE INDEX other ON idempotency.idempotency_keys"
                  + " (tenant, user_uuid, project, idempotency_key)");
          assertThat(problems(handle)).isEmpty();
        });
  }

  /** No constraint on keys spans partitions by something else, though each of them have one. */
  @Test
  void aTableThatIsPartitionedByAnotherKeyIsRefused() {
    tryOn(
        plain,
        handle -> {
          handle.execute(
              """
              ALTER TABLE idempotency.idempotency_keys RENAME TO plain;
              CREATE TABLE idempotency.idempotency_keys (LIKE idempotency.plain INCLUDING DEFAULTS)
                PARTITION BY HASH (id);
              CREATE TABLE idempotency.part PARTITION OF idempotency.idempotency_keys
                FOR VALUES WITH (MODULUS 1, REMAINDER 0);
              CREATE UNIQUE INDEX ON idempotency.part (idempotency_key, user_uuid, tenant, project);
              """);
          assertThat(problems(handle))
              .anyMatch(problem -> problem.contains("has no unique constraint"));
        });
  }

  /** Does something as a superuser, and then undoes it. */
  private static void tryOn(TestDatabase database, HandleConsumer<RuntimeException> trial) {
    database
        .superuser()
        .useTransaction(
            handle -> {
              trial.useHandle(handle);
              handle.rollback();
            });
  }

  private static void asOwner(Handle handle, String statement) {
    handle.execute("SET LOCAL ROLE things_owner");
    handle.execute(statement);
    handle.execute("RESET ROLE");
  }

  private static org.assertj.core.api.AbstractThrowableAssert<?, ? extends Throwable>
      assertThatPartitioning(String statement) {
    return assertThatThrownBy(() -> tryOn(plain, handle -> asOwner(handle, statement)));
  }

  /** Returns what a server would be told as it starts. */
  private static List<String> problems(Handle handle) {
    return problems(handle, "things_app");
  }

  private static List<String> problems(Handle handle, String role) {
    handle.execute("SET LOCAL ROLE " + role);
    try {
      return new SchemaCheck(handle.getConnection(), "idempotency").problems();
    } finally {
      handle.execute("RESET ROLE");
    }
  }

  private static void addRows(Handle handle, int rows) {
    handle.execute(
        """
        INSERT INTO app.things (id, user_id, name)
        SELECT gen_random_uuid(), gen_random_uuid(), 'key-' || n FROM generate_series(1, ?) AS n
        """,
        rows);
    handle.execute(
        """
        INSERT INTO idempotency.idempotency_keys
          (id, idempotency_key, user_uuid, procedure, request_hash, hash_version,
           response_bytes, completed, expires, thing_id)
        SELECT gen_random_uuid(), t.name, t.user_id, 'a.B/C', '', 1,
               'secret', now(), now() + interval '1 hour', t.id
          FROM app.things AS t
        """);
  }

  private static List<String> rows(Handle handle) {
    return strings(handle, "SELECT k::text FROM idempotency.idempotency_keys AS k ORDER BY 1");
  }

  /** Returns all that the catalog says of the table, but what is unique in it. */
  private static List<String> shape(Handle handle) {
    return strings(
        handle,
        """
        SELECT concat_ws(' ', attnum, attname, format_type(atttypid, atttypmod), attnotnull,
                         col_description(attrelid, attnum), pg_get_expr(adbin, adrelid))
          FROM pg_attribute
          LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
         WHERE attrelid = 'idempotency.idempotency_keys'::regclass
           AND attnum > 0
         UNION ALL
        SELECT conname || pg_get_constraintdef(oid)
          FROM pg_constraint
         WHERE conrelid = 'idempotency.idempotency_keys'::regclass
           AND contype IN ('c', 'f')
         UNION ALL
        SELECT indexrelid::regclass || substring(pg_get_indexdef(indexrelid) FROM ' USING .*')
          FROM pg_index
         WHERE indrelid = 'idempotency.idempotency_keys'::regclass
           AND indexrelid::regclass::text !~ '(_pkey|_id)$'
         UNION ALL
        SELECT concat_ws(' ', polname, polcmd, polpermissive, polroles,
                         pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
          FROM pg_policy
         WHERE polrelid = 'idempotency.idempotency_keys'::regclass
         UNION ALL
        SELECT concat_ws(' ', relacl, relowner, relrowsecurity, relforcerowsecurity,
                         obj_description(oid, 'pg_class'))
          FROM pg_class
         WHERE oid = 'idempotency.idempotency_keys'::regclass
         ORDER BY 1
        """);
  }

  private static List<String> options(Handle handle) {
    return strings(
        handle,
        """
        SELECT unnest(c.reloptions || t.reloptions)
          FROM pg_class AS c JOIN pg_class AS t ON t.oid = c.reltoastrelid
         WHERE c.oid = 'idempotency.idempotency_keys_p3'::regclass
        """);
  }

  private static List<String> strings(Handle handle, String query) {
    return handle.createQuery(query.replace(":", "\\:")).mapTo(String.class).list();
  }

  private static int swept(int batch) {
    return Jdbi.create(partitioned.app())
        .withHandle(
            handle ->
                handle
                    .createQuery("SELECT idempotency.sweep_expired(:batch)")
                    .bind("batch", batch)
                    .mapTo(Integer.class)
                    .one());
  }

  private static String load(String name) {
    return SqlFiles.of("idempotency", false, false, false)
        .with("expired", "")
        .with("resource", "")
        .with("select_record", "SELECT 1")
        .load(name);
  }

  private static List<String> statementsWithAKey() {
    Stream<String> loaded =
        Stream.of(
                "claim/claim",
                "claim/extend",
                "claim/delete_expired",
                "claim/retain",
                "claim/take_over",
                "settle/is_completed",
                "settle/lock",
                "settle/mark_unknown",
                "settle/release",
                "settle/update",
                "transaction/find_owner",
                "transaction/delete_ended",
                "transaction/record_failure",
                "check/probe_forget")
            .flatMap(name -> Stream.of(load(name).split(";")))
            .filter(statement -> statement.contains("k.idempotency_key = :key"));
    return Stream.concat(
            loaded,
            Stream.of(
                ProcedureSql.selectRecord(
                    RecordedProcedure.of(Things.CREATE_THING), "idempotency")))
        .toList();
  }

  private static List<String> plan(Handle handle, String statement) {
    return prepared(
        handle,
        statement,
        execute -> handle.createQuery("EXPLAIN (COSTS OFF) " + execute).mapTo(String.class).list());
  }

  /** Returns how many of ten executions had a generic plan; PostgreSQL tries five others first. */
  private static int genericPlans(Handle handle, String statement) {
    return prepared(
        handle,
        statement,
        execute -> {
          for (int i = 0; i < 10; i++) {
            handle.execute(execute);
          }
          return handle
              .createQuery("SELECT generic_plans FROM pg_prepared_statements WHERE name = 'tried'")
              .mapTo(Integer.class)
              .one();
        });
  }

  private static <T> T prepared(Handle handle, String statement, Function<String, T> use) {
    List<String> names =
        NAME.matcher(statement).results().map(found -> found.group(1)).distinct().toList();
    String numbered =
        NAME.matcher(statement).replaceAll(found -> "\\$" + (names.indexOf(found.group(1)) + 1));
    String arguments =
        names.stream().map(PartitionsTest::argument).collect(Collectors.joining(", "));
    try (Statement plain = handle.getConnection().createStatement()) {
      plain.execute("PREPARE tried AS " + numbered);
      return use.apply("EXECUTE tried(" + arguments + ")");
    } catch (java.sql.SQLException failure) {
      throw new AssertionError(statement, failure);
    } finally {
      handle.execute("DEALLOCATE ALL");
    }
  }

  private static String argument(String name) {
    return switch (name) {
      case "key", "server", "tenant", "project" -> "'a'";
      case "user", "id" -> "'" + new UUID(0, 1) + "'";
      default -> "NULL";
    };
  }

  private static List<String> partitionsScanned(List<String> plan) {
    return plan.stream()
        .filter(line -> line.contains("Scan"))
        .flatMap(line -> Pattern.compile(" on idempotency_keys_p\\d").matcher(line).results())
        .map(MatchResult::group)
        .distinct()
        .toList();
  }
}
