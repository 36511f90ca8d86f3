package io.github.grpcidempotency.admin;

import static io.github.grpcidempotency.admin.Shop.ACT;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.key.Caller;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** To an operator, a table in partitions is as any other. */
class PartitionedTest {
  @RegisterExtension static final Shop shop = Shop.inPartitions();

  private static final int MANY = 24;

  private final Administration operator = shop.operator();
  private final Caller user = Caller.of(UUID.randomUUID());

  @Test
  void operationsAreListedInOneOrderPageByPage() {
    List<UUID> newestFirst =
        Stream.generate(() -> shop.record().operationId())
            .limit(MANY)
            .sorted(Comparator.comparing(UUID::toString).reversed())
            .toList();
    List<UUID> soonestFirst = newestFirst.subList(3, 10);
    for (int i = 0; i < soonestFirst.size(); i++) {
      shop.set(soonestFirst.get(i), "expires = now() + interval '%d minutes'".formatted(i + 1));
    }

    assertThat(all(page(Scope.ALL, Optional.empty(), 5)))
        .hasSize(MANY)
        .containsExactlyElementsOf(newestFirst);
    assertThat(all(page(Scope.ALL, Optional.of(Duration.ofMinutes(30)), 3)))
        .containsExactlyElementsOf(soonestFirst);
  }

  @Test
  void operationsAreFoundByIdByKeyAndByTenant() {
    UUID plain = shop.claim(Shop.request(user, "a")).operationId();
    UUID tenants = shop.claim(Shop.request(user.inTenant("acme"), "a")).operationId();
    UUID others =
        shop.claim(Shop.request(Caller.of(UUID.randomUUID()).inTenant("acme"), "b")).operationId();

    assertThat(operator.find(tenants).orElseThrow().key()).isEqualTo("a");
    assertThat(operator.findKey("a", Scope.ALL))
        .extracting(OperationRecord::id)
        .containsExactly(tenants, plain);
    assertThat(all(page(Scope.ofTenant("acme"), Optional.empty(), 10)))
        .containsExactlyInAnyOrder(tenants, others);
    assertThat(operator.isRunning("a", Scope.ofProject("acme", ""), user.userId())).isTrue();
    assertThat(operator.isRunning("b", Scope.ofProject("acme", ""), user.userId())).isFalse();
  }

  @Test
  void reservationsAreFreedAndRecordsForgottenReadAndSwept() {
    UUID stuck = shop.claim().operationId();
    shop.endLease(stuck);
    UUID recorded = shop.record().operationId();
    UUID expired = shop.record().operationId();
    shop.expire(expired);

    Statistics statistics = operator.statistics();
    assertThat(statistics.inFlight().orElseThrow().stuck()).isEqualTo(1);
    assertThat(statistics.expired()).isEqualTo(1);
    assertThat(shop.reader().contents(recorded, ACT).orElseThrow().response()).isPresent();
    assertThat(operator.free(stuck, ACT, false, false)).isEqualTo(ActResult.DONE);
    assertThat(operator.forget(recorded, ACT, false)).isEqualTo(ActResult.DONE);
    assertThat(operator.sweep(ACT)).isEqualTo(1);
    assertThat(shop.rows("SELECT id::text FROM idempotency.idempotency_keys")).isEmpty();
  }

  private static OperationQuery page(Scope scope, Optional<Duration> expiringWithin, int limit) {
    return new OperationQuery(
        Set.of(),
        Optional.empty(),
        scope,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        expiringWithin,
        Optional.empty(),
        limit);
  }

  private List<UUID> all(OperationQuery query) {
    List<UUID> found = new ArrayList<>();
    OperationPage page = operator.list(query);
    page.operations().forEach(operation -> found.add(operation.id()));
    while (page.next().isPresent()) {
      page = operator.list(query.after(page.next().orElseThrow()));
      page.operations().forEach(operation -> found.add(operation.id()));
    }
    return found;
  }
}
