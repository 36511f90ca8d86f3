package io.github.grpcidempotency.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.spi.Claim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ListTest {
  @RegisterExtension static final Shop shop = Shop.open();

  private static final String CANCEL = "shop.Orders/CancelOrder";

  private final Administration operator = shop.operator();
  private final Caller user = Caller.of(UUID.randomUUID());

  @ParameterizedTest
  @EnumSource
  void operationsAreListedByState(OperationState state) {
    UUID running = shop.claim().operationId();
    UUID stuck = shop.claim().operationId();
    shop.endLease(stuck);
    Claim unknown = shop.claim();
    assertThat(unknown.markUnknown()).isEqualTo(Claim.Settled.DONE);
    UUID completed = shop.record().operationId();
    UUID failed = shop.record().operationId();
    shop.set(failed, "response_bytes = NULL, status_bytes = 'no'");
    UUID expired = shop.record().operationId();
    shop.expire(expired);

    assertThat(list(OperationQuery.all().in(state)))
        .containsExactly(
            switch (state) {
              case RUNNING -> running;
              case STUCK -> stuck;
              case UNKNOWN -> unknown.operationId();
              case COMPLETED -> completed;
              case FAILED -> failed;
              case EXPIRED -> expired;
            });
    assertThat(list(OperationQuery.all()))
        .containsExactly(expired, failed, completed, unknown.operationId(), stuck, running);
    assertThat(list(OperationQuery.all().in(OperationState.RUNNING, OperationState.COMPLETED)))
        .containsExactly(completed, running);
  }

  @Test
  void operationsAreListedByProcedureTenantProjectAndUser() {
    Caller inProject = user.inTenant("acme").inProject("apollo");
    UUID outside = shop.claim(Shop.request(user, "a")).operationId();
    UUID project = shop.claim(Shop.request(inProject, "b")).operationId();
    UUID tenant = shop.claim(Shop.request(user.inTenant("acme"), "c")).operationId();
    UUID similar = shop.claim(Shop.request(user.inTenant("acme2"), "d")).operationId();
    UUID cancelled =
        shop.claim(Shop.request(inProject, "e", CANCEL, Duration.ofDays(1))).operationId();
    UUID others = shop.claim(Shop.request(Caller.of(UUID.randomUUID()), "f")).operationId();

    assertThat(list(with(Optional.of(CANCEL), Scope.ALL, Optional.empty())))
        .containsExactly(cancelled);
    assertThat(list(with(Optional.empty(), Scope.ofTenant("acme"), Optional.empty())))
        .containsExactly(cancelled, tenant, project);
    assertThat(list(with(Optional.empty(), Scope.ofProject("acme", "apollo"), Optional.empty())))
        .containsExactly(cancelled, project);
    assertThat(list(with(Optional.empty(), Scope.ofProject("acme", ""), Optional.empty())))
        .containsExactly(tenant);
    assertThat(list(with(Optional.empty(), Scope.ofTenant("acm"), Optional.empty()))).isEmpty();
    assertThat(list(with(Optional.empty(), Scope.ofTenant(""), Optional.empty())))
        .containsExactly(others, outside);
    assertThat(list(with(Optional.empty(), Scope.ALL, Optional.of(user.userId()))))
        .containsExactly(cancelled, similar, tenant, project, outside);
    assertThat(
            list(
                with(
                    Optional.of(Shop.CREATE_ORDER),
                    Scope.ofTenant("acme"),
                    Optional.of(user.userId()))))
        .containsExactly(tenant, project);
    assertThat(list(OperationQuery.all())).contains(others).hasSize(6);
  }

  @Test
  void aUsersOperationsAreFoundByTheirIndexToo() {
    UUID id = shop.claim(Shop.request(user, "a")).operationId();
    shop.claim();
    shop.execute(Shop.OWNER, "SELECT idempotency.add_operation_index()");

    assertThat(list(with(Optional.empty(), Scope.ALL, Optional.of(user.userId()))))
        .containsExactly(id);

    shop.execute(Shop.OWNER, "DROP INDEX idempotency.idempotency_keys_operations");
  }

  @Test
  void oldOperationsAreListedByTheDatabasesTime() {
    UUID young = shop.claim().operationId();
    UUID old = shop.record().operationId();
    shop.set(old, "created = now() - interval '61 minutes'");
    UUID oldAndRunning = shop.claim().operationId();
    shop.set(oldAndRunning, "created = now() - interval '61 minutes'");
    OperationQuery query = OperationQuery.all();

    assertThat(list(olderThan(query, Duration.ofMinutes(60)))).containsExactly(oldAndRunning, old);
    assertThat(list(olderThan(query.in(OperationState.RUNNING), Duration.ofMinutes(60))))
        .containsExactly(oldAndRunning);
    assertThat(list(olderThan(query, Duration.ofMinutes(62)))).isEmpty();
    assertThat(list(olderThan(query, Duration.ZERO))).contains(young);
  }

  @Test
  void theOperationThatExpiresSoonestComesFirst() {
    UUID inADay = shop.record().operationId();
    UUID inAnHour =
        shop.claim(Shop.request(user, "a", CANCEL, Duration.ofMinutes(60))).operationId();
    UUID inAMinute =
        shop.claim(Shop.request(user, "b", CANCEL, Duration.ofMinutes(1))).operationId();
    UUID expired = shop.record().operationId();
    shop.expire(expired);
    OperationQuery query = OperationQuery.all();

    assertThat(list(expiring(query, Duration.ofHours(2)))).containsExactly(inAMinute, inAnHour);
    assertThat(list(expiring(query, Duration.ofDays(2))))
        .containsExactly(inAMinute, inAnHour, inADay);
    assertThat(list(expiring(query.in(OperationState.COMPLETED), Duration.ofDays(2))))
        .containsExactly(inADay);
    assertThat(list(expiring(query.in(OperationState.RUNNING), Duration.ofHours(2))))
        .as("of reservations, the newest first")
        .containsExactly(inAMinute, inAnHour);
    assertThat(list(expiring(query.in(OperationState.EXPIRED), Duration.ofDays(2)))).isEmpty();
  }

  @Test
  void pagesFollowEachOtherWithoutGapOrRepetition() {
    List<UUID> created = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      created.add(shop.record().operationId());
    }
    // Two that expire in the same microsecond.
    shop.superuser()
        .useHandle(
            handle ->
                handle.execute(
                    "UPDATE idempotency.idempotency_keys SET expires = date_trunc('hour', expires)"
                        + " + CASE WHEN id IN (?, ?) THEN interval '7 us' ELSE interval '0' END",
                    created.get(2),
                    created.get(5)));
    List<UUID> newestFirst = new ArrayList<>(created);
    Collections.reverse(newestFirst);

    assertThat(pages(limited(OperationQuery.all(), 3))).containsExactlyElementsOf(newestFirst);
    assertThat(pages(expiring(limited(OperationQuery.all(), 2), Duration.ofDays(2))))
        .containsExactly(
            created.get(0),
            created.get(1),
            created.get(3),
            created.get(4),
            created.get(6),
            created.get(2),
            created.get(5));
  }

  @Test
  void anEmptyPageHasATokenForTheNextPage() {
    shop.superuser()
        .useHandle(
            handle ->
                handle.execute(
                    "INSERT INTO idempotency.idempotency_keys (id, idempotency_key, tenant, user_uuid,"
                        + " procedure, request_hash, hash_version, completed, expires) SELECT"
                        + " ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,       "
                        + " n, CASE n WHEN 2 THEN 'acme' ELSE '' END,       "
                        + " gen_random_uuid(), CASE n WHEN 2 THEN 'rare' ELSE 'common' END,       "
                        + " '', 1, now(), now() + interval '1 day'   FROM generate_series(1, 20010)"
                        + " AS n"));
    OperationQuery rare = with(Optional.of("rare"), Scope.ALL, Optional.empty());

    OperationPage first = operator.list(rare);
    OperationPage second = operator.list(rare.after(first.next().orElseThrow()));

    assertThat(first.operations()).isEmpty();
    assertThat(second.operations()).hasSize(1);
    assertThat(second.next()).isEmpty();
    assertThat(pages(expiring(rare, Duration.ofDays(2)))).hasSize(1);
    OperationQuery acme = with(Optional.empty(), Scope.ofTenant("acme"), Optional.empty());
    assertThat(operator.list(acme).operations()).isEmpty();
    shop.execute(Shop.OWNER, "SELECT idempotency.add_tenant_index()");
    assertThat(operator.list(acme))
        .as("a tenant has an index of its own")
        .satisfies(page -> assertThat(page.operations()).hasSize(1))
        .satisfies(page -> assertThat(page.next()).isEmpty());
    shop.execute(Shop.OWNER, "DROP INDEX idempotency.idempotency_keys_tenants");
  }

  @Test
  void aQueryIsCheckedBeforeItIsSent() {
    for (String token :
        List.of(
            "x",
            "",
            "01900000-0000-7000-8000-000000000000'",
            "1/01900000-0000-7000-8000-000000000000")) {
      assertThatThrownBy(() -> OperationQuery.all().after(token))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> limited(OperationQuery.all(), 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> limited(OperationQuery.all(), 1_001))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> olderThan(OperationQuery.all(), Duration.ofSeconds(-1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private List<UUID> list(OperationQuery query) {
    OperationPage page = operator.list(query);
    assertThat(page.next()).isEmpty();
    return page.operations().stream().map(OperationRecord::id).toList();
  }

  private List<UUID> pages(OperationQuery query) {
    List<UUID> ids = new ArrayList<>();
    Optional<String> next = Optional.empty();
    do {
      OperationPage page = operator.list(next.map(query::after).orElse(query));
      page.operations().forEach(operation -> ids.add(operation.id()));
      next = page.next();
    } while (next.isPresent());
    return ids;
  }

  private static OperationQuery with(
      Optional<String> procedure, Scope scope, Optional<UUID> userId) {
    return new OperationQuery(
        Set.of(),
        procedure,
        scope,
        userId,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        100);
  }

  private static OperationQuery limited(OperationQuery query, int limit) {
    return new OperationQuery(
        query.states(),
        query.procedure(),
        query.scope(),
        query.userId(),
        query.server(),
        query.olderThan(),
        query.newerThan(),
        query.expiringWithin(),
        query.after(),
        limit);
  }

  private static OperationQuery olderThan(OperationQuery query, Duration age) {
    return new OperationQuery(
        query.states(),
        query.procedure(),
        query.scope(),
        query.userId(),
        query.server(),
        Optional.of(age),
        query.newerThan(),
        query.expiringWithin(),
        query.after(),
        query.limit());
  }

  private static OperationQuery expiring(OperationQuery query, Duration within) {
    return new OperationQuery(
        query.states(),
        query.procedure(),
        query.scope(),
        query.userId(),
        query.server(),
        query.olderThan(),
        query.newerThan(),
        Optional.of(within),
        query.after(),
        query.limit());
  }
}
