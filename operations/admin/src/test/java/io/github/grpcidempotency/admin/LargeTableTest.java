package io.github.grpcidempotency.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.data.Percentage;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What operators ask costs no more on a large table. Counted in pages, of which the table has some
 * 3,000.
 */
class LargeTableTest {
  @RegisterExtension static final Shop shop = Shop.thatKeepsItsRows();

  private static final Pattern SHARED =
      Pattern.compile("Buffers: shared( hit=(\\d+))?( read=(\\d+))?");

  /**
   * One row a second over 100,000 seconds, the oldest 15,000 of which have expired; 40
   * reservations, 20 of them stuck but for 3 that have expired, and 5 unknown; a tenant with 100
   * rows.
   */
  private static final String FILL =
      """
      INSERT INTO idempotency.idempotency_keys
        (id, idempotency_key, tenant, project, user_uuid, procedure, request_hash, hash_version, response_bytes,
         lease_expires, created, completed, expires, outcome_unknown)
      SELECT (lpad(to_hex(((extract(epoch FROM now()) - 100000 + n) * 1000)::bigint), 12, '0')
               || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
             md5(n::text),
             CASE WHEN n % 1000 = 1 THEN 'acme' ELSE '' END,
             CASE WHEN n % 1000 = 1 THEN 'apollo' ELSE '' END,
             md5((n % 1000)::text)::uuid,
             'shop.Orders/CreateOrder',
             decode(md5(n::text), 'hex'), 1,
             CASE WHEN in_flight THEN NULL ELSE decode(repeat('ab', 50), 'hex') END,
             now() + CASE WHEN n % 5000 = 0 THEN interval '-1 hour' ELSE interval '1 hour' END,
             now() - (100000 - n) * interval '1 second',
             CASE WHEN in_flight THEN NULL ELSE now() - (100000 - n) * interval '1 second' END,
             now() + (n - 15000) * interval '1 second',
             n % 20000 = 2500
        FROM (SELECT n, n % 2500 = 0 AS in_flight FROM generate_series(1, 100000) AS n) AS numbered
      """;

  private final Administration operator = shop.operator();

  @BeforeAll
  static void fill() {
    shop.superuser()
        .useHandle(
            handle -> {
              handle.execute(FILL);
              handle.execute("VACUUM ANALYZE idempotency.idempotency_keys");
            });
  }

  @Test
  void statisticsAreRightAndReadLittle() {
    Statistics statistics = operator.statistics();

    assertThat(statistics.rows()).isCloseTo(100_000, Percentage.withPercentage(5));
    assertThat(statistics.bytes())
        .isEqualTo(
            Long.parseLong(
                shop.rows("SELECT pg_total_relation_size('idempotency.idempotency_keys')").get(0)));
    assertThat(statistics.inFlight().orElseThrow().all()).isEqualTo(37);
    assertThat(statistics.inFlight().orElseThrow().stuck()).isEqualTo(17);
    assertThat(statistics.inFlight().orElseThrow().unknown()).isEqualTo(5);
    assertThat(statistics.inFlight().orElseThrow().oldest().orElseThrow())
        .isBetween(Duration.ofSeconds(97_500), Duration.ofSeconds(98_500));
    assertThat(statistics.expired()).isEqualTo(10_000);
    assertThat(statistics.expiredIsMore()).isTrue();
    assertThat(statistics.sweepLag().orElseThrow())
        .isBetween(Duration.ofSeconds(14_999), Duration.ofSeconds(15_999));
    assertThat(pages("SELECT * FROM idempotency.statistics()")).isLessThan(1_000);
  }

  @Test
  void theRecordsOfAProcedureAreCountedInASampleIfTheTableIsLarge() {
    Statistics.OfProcedure all = operator.procedures().get(0);
    assertThat(all.procedure()).isEqualTo("shop.Orders/CreateOrder");
    assertThat(all.records()).isEqualTo(100_000);
    assertThat(all.lastHour()).isBetween(1L, 3_600L);
    assertThat(all.lastDay()).isBetween(80_000L, 86_400L);

    String sampled = "SELECT %s FROM idempotency.operator_procedures(1000)";
    assertThat(pages(sampled.formatted("*"))).isLessThan(1_500);
    assertThat(Long.parseLong(shop.rows(sampled.formatted("records::text")).get(0)))
        .isCloseTo(100_000, Percentage.withPercentage(25));
  }

  @Test
  void theMostFrequentQueriesReadFewPages() {
    shop.execute(Shop.OWNER, "SELECT idempotency.add_tenant_index()");
    for (String call :
        List.of(
            "operator_find(gen_random_uuid())",
            "operator_find(of_key => md5('5'))",
            "operator_find(of_key => md5('1'), of_tenant => 'acme')",
            "operator_is_running(md5('5'), NULL, NULL, gen_random_uuid())",
            "operator_find(page => 100)",
            "operator_find(states => '{stuck}', page => 100)",
            "operator_find(states => '{running,stuck,unknown}', of_procedure => 'none', page => 100)",
            "operator_find(states => '{running,stuck,unknown}', of_tenant => 'none',"
                + " older_than => '1 hour', page => 100)",
            "operator_find(older_than => '1 day', page => 100)",
            "operator_find(expiring_within => '1 hour', page => 100)",
            "operator_find(states => '{expired}', page => 100)",
            "operator_find(of_tenant => 'acme', page => 50)",
            "operator_find(of_tenant => 'acme', of_project => 'apollo')")) {
      assertThat(pages("SELECT * FROM idempotency." + call)).as(call).isLessThan(800);
    }
    shop.execute(Shop.OWNER, "DROP INDEX idempotency.idempotency_keys_tenants");
  }

  @Test
  void queriesWithoutAnIndexReadAPartOfTheTableAtATime() {
    String rare = "SELECT * FROM idempotency.operator_find(of_procedure => 'none', page => 100)";

    assertThat(pages(rare)).isLessThan(2_500);
    OperationPage page =
        operator.list(
            new OperationQuery(
                Set.of(),
                Optional.of("none"),
                Scope.ALL,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                100));
    assertThat(page.operations()).isEmpty();
    assertThat(page.next()).isPresent();
  }

  @Test
  void aUsersOperationsReadLittleOnceTheyHaveTheirIndex() {
    shop.execute(Shop.OWNER, "SELECT idempotency.add_operation_index()");

    assertThat(
            pages("SELECT * FROM idempotency.operator_find(of_user => md5('7')::uuid, page => 50)"))
        .isLessThan(300);

    shop.execute(Shop.OWNER, "DROP INDEX idempotency.idempotency_keys_operations");
  }

  /** A plan that is switched off has a cost at which PostgreSQL would compile it, which is slow. */
  @Test
  void aFunctionThatSwitchesPlansOffIsNotCompiled() {
    assertThat(
            shop.rows(
                """
                SELECT p.proname
                  FROM pg_proc AS p
                 WHERE p.pronamespace = 'idempotency'::regnamespace
                   AND EXISTS (SELECT FROM unnest(p.proconfig) AS setting WHERE setting LIKE 'enable%')
                   AND NOT 'jit=off' = ANY (p.proconfig)
                """))
        .isEmpty();
  }

  /** Returns how many pages a statement of the operator reads, once its catalogs are cached. */
  private static int pages(String sql) {
    try (Handle handle = Jdbi.create(shop.as(Shop.OPERATOR)).open()) {
      handle.createQuery(sql).mapToMap().list();
      Matcher first =
          SHARED.matcher(
              handle
                  .createQuery("EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off) " + sql)
                  .mapTo(String.class)
                  .list()
                  .stream()
                  .filter(line -> line.contains("Buffers: "))
                  .findFirst()
                  .orElseThrow());
      assertThat(first.find()).isTrue();
      return number(first, 2) + number(first, 4);
    }
  }

  private static int number(Matcher matcher, int group) {
    String digits = matcher.group(group);
    return digits == null ? 0 : Integer.parseInt(digits);
  }
}
