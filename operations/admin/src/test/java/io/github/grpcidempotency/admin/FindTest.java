package io.github.grpcidempotency.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FindTest {
  @RegisterExtension static final Shop shop = Shop.open();

  private static final String KEY = "0190a0b1-0000-7000-8000-000000000001";

  private final Administration operator = shop.operator();
  private final Caller user = Caller.of(UUID.randomUUID());

  @Test
  void aRunningCallIsFoundByItsIdWithAllDetails() {
    Claim claim = shop.claim(Shop.request(user.inTenant("acme").inProject("apollo"), KEY));

    OperationRecord found = operator.find(claim.operationId()).orElseThrow();

    assertThat(found.id()).isEqualTo(claim.operationId());
    assertThat(found.key()).isEqualTo(KEY);
    assertThat(found.tenant()).isEqualTo("acme");
    assertThat(found.project()).isEqualTo("apollo");
    assertThat(found.userId()).isEqualTo(user.userId());
    assertThat(found.procedure()).isEqualTo(Shop.CREATE_ORDER);
    assertThat(found.state()).isEqualTo(OperationState.RUNNING);
    assertThat(found.outcomeUnknown()).isFalse();
    assertThat(found.attempt()).isEqualTo(1);
    assertThat(found.leaseExpires()).contains(found.created().plus(Shop.LEASE));
    assertThat(found.completed()).isEmpty();
    assertThat(found.expires()).isEqualTo(claim.expires());
    assertThat(found.resource()).isEmpty();
    assertThat(found.answerBytes()).isZero();
    assertThat(found.read()).isAfter(found.created());
  }

  @Test
  void aRecordIsFoundWithItsResourceAndTheSizeOfItsAnswer() {
    ResourceId order = shop.order();
    Claim claim = shop.claim();
    Shop.complete(claim, Optional.of(order));

    OperationRecord found = operator.find(claim.operationId()).orElseThrow();

    assertThat(found.state()).isEqualTo(OperationState.COMPLETED);
    assertThat(found.completed()).isPresent();
    assertThat(found.resource()).contains(new OperationRecord.Resource("order", order.toString()));
    assertThat(found.answerBytes()).isEqualTo("an answer".length());
  }

  @Test
  void whichColumnRefersToTheResourceIsFoundOutWhenItIsAsked() {
    shop.execute(Shop.OWNER, "CREATE TABLE shop.refunds (id bigint PRIMARY KEY)");
    shop.execute(Shop.OWNER, "SELECT idempotency.add_resource_type('refund', 'shop.refunds')");
    shop.execute(Shop.OWNER, "INSERT INTO shop.refunds VALUES (4711)");
    UUID id = shop.record().operationId();
    shop.set(id, "refund_id = 4711");

    assertThat(operator.find(id).orElseThrow().resource())
        .contains(new OperationRecord.Resource("refund", "4711"));
  }

  @Test
  void theServerAndTheTraceOfARunAreReturned() {
    ClaimRequest untraced = Shop.request(user, KEY);
    ClaimRequest request =
        untraced.tracedBy(
            Optional.of(
                ByteString.fromHex("000af7651916cd43dd8448eb211c80319cb7ad6b716920333101")));
    UUID id =
        ((ClaimResult.Won)
                PostgresIdempotencyStore.builder(shop.as(Shop.APP)).build().claim(request))
            .claim()
            .operationId();

    OperationRecord found = operator.find(id).orElseThrow();

    assertThat(found.server().orElseThrow()).endsWith(":" + ProcessHandle.current().pid());
    assertThat(found.trace()).contains("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    shop.set(id, "server = NULL, trace = '\\xCAFE'");
    assertThat(operator.find(id).orElseThrow().trace()).contains("cafe");
    assertThat(operator.find(id).orElseThrow().server()).isEmpty();
  }

  @Test
  void everyStateIsReturned() {
    UUID stuck = shop.claim().operationId();
    shop.endLease(stuck);
    Claim unknown = shop.claim();
    assertThat(unknown.markUnknown()).isEqualTo(Claim.Settled.DONE);
    Claim failed = shop.claim();
    assertThat(failed.complete(new RecordedOutcome.Failure(ByteString.copyFromUtf8("no"))))
        .isEqualTo(Claim.Settled.DONE);
    UUID expired = shop.record().operationId();
    shop.expire(expired);
    Claim outlived = shop.claim();
    shop.set(outlived.operationId(), "expires = now() - interval '1 minute'");

    assertThat(state(stuck)).isEqualTo(OperationState.STUCK);
    assertThat(state(unknown.operationId())).isEqualTo(OperationState.UNKNOWN);
    assertThat(state(failed.operationId())).isEqualTo(OperationState.FAILED);
    assertThat(state(expired)).isEqualTo(OperationState.EXPIRED);
    UUID abandoned = shop.claim().operationId();
    shop.expire(abandoned);
    assertThat(state(abandoned)).isEqualTo(OperationState.EXPIRED);
    Statistics statistics = operator.statistics();
    assertThat(statistics.inFlight().orElseThrow().all())
        .as("stuck, unknown, running")
        .isEqualTo(3);
    assertThat(statistics.inFlight().orElseThrow().stuck()).isEqualTo(1);
    assertThat(statistics.inFlight().orElseThrow().unknown()).isEqualTo(1);
    assertThat(statistics.expired()).isEqualTo(2);
    assertThat(state(outlived.operationId()))
        .as("its lease lives")
        .isEqualTo(OperationState.RUNNING);
  }

  @Test
  void anUnknownOutcomeIsReturnedAfterTheEndOfTheLeaseToo() {
    Claim claim = shop.claim();
    assertThat(claim.markUnknown()).isEqualTo(Claim.Settled.DONE);
    shop.endLease(claim.operationId());

    OperationRecord found = operator.find(claim.operationId()).orElseThrow();

    assertThat(found.state()).isEqualTo(OperationState.STUCK);
    assertThat(found.outcomeUnknown()).isTrue();
  }

  @Test
  void aKeyIsFoundForEveryUserInAllNamespacesOrInOne() {
    Caller other = Caller.of(UUID.randomUUID());
    UUID first = shop.claim(Shop.request(user, KEY)).operationId();
    UUID second = shop.claim(Shop.request(other, KEY)).operationId();
    UUID inTenant = shop.claim(Shop.request(user.inTenant("acme"), KEY)).operationId();

    assertThat(ids(operator.findKey(KEY, Scope.ALL))).containsExactly(inTenant, second, first);
    assertThat(ids(operator.findKey(KEY, Scope.ofTenant("acme")))).containsExactly(inTenant);
    assertThat(ids(operator.findKey(KEY, Scope.ofProject("acme", "")))).containsExactly(inTenant);
    assertThat(operator.findKey(KEY, Scope.ofProject("acme", "apollo"))).isEmpty();
  }

  @Test
  void aKeyWithAColonIsFound() {
    ClaimRequest request = Shop.request(user, "provider:evt_1");
    UUID id = shop.claim(request).operationId();

    List<OperationRecord> found = operator.findKey("provider:evt_1", Scope.ALL);

    assertThat(ids(found)).containsExactly(id);
    assertThat(found.get(0).key()).isEqualTo("provider:evt_1");
    assertThat(found.get(0).tenant()).isEmpty();
  }

  @Test
  void whatDoesNotExistIsNotFound() {
    assertThat(operator.find(UUID.randomUUID())).isEmpty();
    assertThat(operator.findKey("no such key", Scope.ALL)).isEmpty();
  }

  @Test
  void aCallInATransactionHasNoRecordButIsReportedAsRunning() {
    for (String key : List.of(KEY, "schlüssel-鍵-🔑", "provider:evt_1")) {
      for (Caller caller : List.of(user, user.inTenant("acme"))) {
        ClaimRequest request = Shop.request(caller, key);
        Claim claim = ((ClaimResult.Won) shop.store().claimInTransaction(request)).claim();
        Scope in = new Scope(caller.tenant(), Optional.empty());

        assertThat(operator.findKey(key, in)).isEmpty();
        assertThat(operator.free(claim.operationId(), Shop.ACT, true, false))
            .isEqualTo(ActResult.NOT_FOUND);
        assertThat(operator.isRunning(key, in, user.userId())).isTrue();
        assertThat(operator.isRunning(key, in, UUID.randomUUID())).isFalse();
        assertThat(operator.isRunning(key, Scope.ofProject("acme", "apollo"), user.userId()))
            .isFalse();

        Shop.complete(claim, Optional.empty());
        assertThat(operator.isRunning(key, in, user.userId())).isFalse();
      }
    }
  }

  @Test
  void aCallInATransactionIsFoundWithoutItsTenantAndProject() {
    insertRowsWithoutATenant();
    Caller caller = user.inTenant("acme").inProject("apollo");
    ClaimRequest request = Shop.request(caller, KEY);
    Claim claim = ((ClaimResult.Won) shop.store().claimInTransaction(request)).claim();

    assertThat(operator.isRunning(KEY, Scope.ALL, user.userId())).isTrue();
    assertThat(operator.isRunning(KEY, Scope.ofTenant("acme"), user.userId())).isTrue();
    assertThat(operator.isRunning(KEY, Scope.ofProject("acme", "apollo"), user.userId())).isTrue();
    assertThat(operator.isRunning(KEY, Scope.ofProject("acme", "mercury"), user.userId()))
        .isFalse();
    assertThat(operator.isRunning(KEY, Scope.ALL, UUID.randomUUID())).isFalse();
    assertThat(operator.isRunning("another key", Scope.ALL, user.userId())).isFalse();

    Shop.complete(claim, Optional.empty());
    assertThat(operator.isRunning(KEY, Scope.ALL, user.userId())).isFalse();
  }

  /** The prefix of assigned ids, of a source with a prefix, and of keys from contents. */
  @ParameterizedTest
  @ValueSource(strings = {"id:", "ci:", "github:", "sha256:"})
  void aKeyIsFoundWithAndWithoutThePrefixOfItsSource(String prefix) {
    String key = prefix + KEY;
    UUID id = shop.claim(Shop.request(user.inTenant("acme"), key)).operationId();

    assertThat(ids(operator.findKey(KEY, Scope.ALL))).containsExactly(id);
    assertThat(ids(operator.findKey(key, Scope.ALL))).containsExactly(id);
    assertThat(operator.findKey(KEY + "0", Scope.ALL)).isEmpty();
    assertThat(operator.isRunning(KEY, Scope.ALL, user.userId())).isTrue();

    String next = "order-4711";
    Claim claim =
        ((ClaimResult.Won) shop.store().claimInTransaction(Shop.request(user, prefix + next)))
            .claim();
    assertThat(operator.isRunning(next, Scope.ALL, user.userId())).isTrue();
    Shop.complete(claim, Optional.empty());
    assertThat(operator.isRunning(next, Scope.ALL, user.userId())).isFalse();
  }

  @Test
  void theProcessOfATransactionIsFoundAndItsClientByARoleThatMayReadStatistics() {
    ClaimRequest request = Shop.request(user.inTenant("acme"), KEY);
    Scope acme = Scope.ofTenant("acme");
    Claim claim = ((ClaimResult.Won) shop.store().claimInTransaction(request)).claim();

    RunningTransaction found = operator.transactions(KEY, acme, user.userId()).get(0);
    assertThat(found.process().map(String::valueOf))
        .isEqualTo(
            shop.rows("SELECT pid::text FROM pg_locks WHERE locktype = 'advisory'").stream()
                .findFirst());
    assertThat(found.application()).contains("PostgreSQL JDBC Driver");
    assertThat(found.address()).isEmpty();
    assertThat(found.since()).isEmpty();
    assertThat(operator.transactions(KEY, Scope.ALL, user.userId())).containsExactly(found);
    assertThat(operator.transactions(KEY, Scope.ofProject("acme", "x"), user.userId())).isEmpty();

    shop.superuser()
        .useHandle(handle -> handle.execute("GRANT pg_read_all_stats TO admin_operator"));
    try {
      RunningTransaction seen = operator.transactions(KEY, acme, user.userId()).get(0);
      assertThat(seen.address().orElseThrow()).matches("127\\.0\\.0\\.1:\\d+");
      assertThat(seen.since()).isPresent();
    } finally {
      shop.superuser()
          .useHandle(handle -> handle.execute("REVOKE pg_read_all_stats FROM admin_operator"));
    }
    Shop.complete(claim, Optional.empty());
    assertThat(operator.transactions(KEY, acme, user.userId())).isEmpty();
  }

  @Test
  void aCallClaimedAtItsCommitHasNoRecord() {
    ClaimRequest request = Shop.request(user, KEY);
    try (Claim claim = shop.store().claimAtCommit(request)) {
      assertThat(operator.findKey(KEY, Scope.ALL)).isEmpty();
      assertThat(operator.free(claim.operationId(), Shop.ACT, true, false))
          .isEqualTo(ActResult.NOT_FOUND);
    }
  }

  @Test
  void aReservationRunsUntilItsLeaseEnds() {
    UUID id = shop.claim(Shop.request(user, KEY)).operationId();

    assertThat(operator.isRunning(KEY, Scope.ALL, user.userId())).isTrue();
    shop.endLease(id);
    assertThat(operator.isRunning(KEY, Scope.ALL, user.userId())).isFalse();
  }

  @Test
  void manyRowsWithoutATenantHideNoOperationOfAKey() {
    insertRowsWithoutATenant();
    shop.claim(Shop.request(user.inTenant("acme"), "order-8"));

    assertThat(operator.isRunning("order-8", Scope.ALL, user.userId())).isTrue();
    shop.claim(Shop.request(user, "order-8"));
    assertThat(operator.findKey("order-8", Scope.ALL)).hasSize(2);
  }

  @Test
  void neitherKeysNorContentsAreInTheTextOfWhatIsFound() {
    UUID id = shop.claim(Shop.request(user, KEY)).operationId();

    assertThat(operator.find(id).orElseThrow().toString())
        .contains(id.toString())
        .doesNotContain(KEY);
  }

  private static void insertRowsWithoutATenant() {
    shop.superuser()
        .useHandle(
            handle ->
                handle.execute(
                    """
                    INSERT INTO idempotency.idempotency_keys
                      (id, idempotency_key, user_uuid, procedure, request_hash, hash_version,
                       response_bytes, completed, expires)
                    SELECT gen_random_uuid(), '0-' || n, gen_random_uuid(), 'p', '\\x00', 1, '\\x00',
                           now(), now() + interval '1 day'
                      FROM generate_series(1, 250) AS n
                    """));
  }

  private OperationState state(UUID id) {
    return operator.find(id).orElseThrow().state();
  }

  private static List<UUID> ids(List<OperationRecord> records) {
    return records.stream().map(OperationRecord::id).toList();
  }
}
