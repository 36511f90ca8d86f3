package io.github.grpcidempotency.admin;

import static io.github.grpcidempotency.admin.Shop.ACT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

class EraseTest {
  @RegisterExtension static final Shop shop = Shop.open();

  private static final String SUBJECT = "auth0|65a1f0";

  private final Administration operator = shop.operator();
  private final Caller user = Caller.ofSubject(SUBJECT);

  @Test
  void theRecordsOfASubjectAreErasedAndNoOthers() {
    ClaimRequest request = Shop.request(user, "order-1");
    Shop.complete(shop.claim(request), Optional.empty());
    Shop.complete(shop.claim(Shop.request(user.inTenant("acme"), "order-2")), Optional.empty());
    shop.endLease(shop.claim(Shop.request(user, "order-3")).operationId());
    UUID other = shop.record().operationId();
    Erasure erasure = Erasure.ofSubject(SUBJECT);

    assertThat(operator.erase(erasure, ACT, Duration.ZERO, true))
        .isEqualTo(new ErasureResult(false, 2, 1, 0));
    assertThat(operator.audit(AuditQuery.newest(10))).isEmpty();
    assertThat(operator.erase(erasure, ACT, Duration.ZERO, false))
        .isEqualTo(new ErasureResult(true, 2, 1, 0));

    assertThat(shop.rows("SELECT id::text FROM idempotency.idempotency_keys"))
        .containsExactly(other.toString());
    assertThat(shop.store().claim(request)).isInstanceOf(ClaimResult.Won.class);
    assertThat(operator.audit(AuditQuery.newest(10))).hasSize(1);
    AuditEntry entry = operator.audit(AuditQuery.newest(10)).get(0);
    assertThat(entry.act()).isEqualTo("erase");
    assertThat(entry.deleted()).isEqualTo(3);
    assertThat(shop.rows("SELECT a::text FROM idempotency.idempotency_audit AS a"))
        .noneMatch(
            row ->
                row.contains("order-")
                    || row.contains("auth0")
                    || row.contains("acme")
                    || row.contains(user.userId().toString()));
  }

  @Test
  void theErasureOfAUserIsFoundByTheUser() {
    Shop.complete(shop.claim(Shop.request(user, "order-1")), Optional.empty());
    operator.erase(Erasure.ofSubject(SUBJECT), ACT, Duration.ZERO, false);

    assertThat(operator.audit(of(user.userId()))).extracting(AuditEntry::act).contains("erase");
    assertThat(operator.audit(of(UUID.randomUUID()))).isEmpty();
  }

  @Test
  void anErasureOfATenantIsFoundByItsNameAndNotByAUserWithThatName() {
    String name = user.userId().toString();
    shop.claimAndRecord(user.inTenant(name));
    operator.erase(Erasure.of(Scope.ofTenant(name)), ACT, Duration.ZERO, false);

    assertThat(erasures(Scope.ofTenant(name))).hasSize(1);
    assertThat(erasures(Scope.ofProject(name, "apollo"))).isEmpty();
    assertThat(erasures(Scope.ofTenant("acme"))).isEmpty();
    assertThat(operator.audit(of(user.userId()))).isEmpty();
  }

  @Test
  void anErasureNeedsANameThatATenantCanHave() {
    for (String name : List.of("", " acme", "acme ")) {
      assertThatThrownBy(() -> Erasure.of(Scope.ofTenant(name)))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> Erasure.of(Scope.ALL)).isInstanceOf(IllegalArgumentException.class);
  }

  private List<AuditEntry> erasures(Scope scope) {
    return operator.audit(query(scope, Optional.empty()));
  }

  private static AuditQuery of(UUID user) {
    return query(Scope.ALL, Optional.of(user));
  }

  private static AuditQuery query(Scope scope, Optional<UUID> user) {
    return new AuditQuery(
        Optional.empty(),
        Optional.empty(),
        scope,
        user,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        10);
  }

  @Test
  void theRecordsOfATenantAreThoseOfAllItsUsersAndProjects() {
    for (Caller caller : List.of(user, Caller.of(UUID.randomUUID()))) {
      shop.claimAndRecord(caller.inTenant("acme"));
      shop.claimAndRecord(caller.inTenant("acme").inProject("apollo"));
      shop.claimAndRecord(caller.inTenant("acme2"));
      shop.claimAndRecord(caller);
    }

    assertThat(
            operator
                .erase(Erasure.of(Scope.ofProject("acme", "apollo")), ACT, Duration.ZERO, false)
                .records())
        .isEqualTo(2);
    assertThat(
            operator.erase(Erasure.of(Scope.ofTenant("acme")), ACT, Duration.ZERO, false).records())
        .isEqualTo(2);
    assertThat(shop.rows("SELECT tenant FROM idempotency.idempotency_keys"))
        .containsExactlyInAnyOrder("acme2", "acme2", "", "");
  }

  @Test
  void aKeyThatLooksLikeATenantsSurvivesTheErasureOfThatTenant() {
    for (String key : List.of("acme/2026-12", "acme/-:2026-12", "acme:2026-12")) {
      Shop.complete(shop.claim(Shop.request(user, key)), Optional.empty());
    }

    assertThat(
            operator.erase(Erasure.of(Scope.ofTenant("acme")), ACT, Duration.ZERO, false).records())
        .isZero();
    assertThat(shop.rows("SELECT idempotency_key FROM idempotency.idempotency_keys")).hasSize(3);
  }

  @Test
  void aRunningOperationStopsAnErasureThatDoesNotWait() {
    shop.claimAndRecord(user);
    Claim running = shop.claim(Shop.request(user, "running"));

    assertThat(operator.erase(Erasure.ofSubject(SUBJECT), ACT, Duration.ZERO, false))
        .isEqualTo(new ErasureResult(false, 1, 0, 1));
    assertThat(shop.rows("SELECT id::text FROM idempotency.idempotency_keys")).hasSize(2);

    CompletableFuture<ErasureResult> erasing =
        CompletableFuture.supplyAsync(
            () -> operator.erase(Erasure.ofSubject(SUBJECT), ACT, Duration.ofSeconds(30), false));
    Awaitility.await()
        .until(() -> shop.rows("SELECT id::text FROM idempotency.idempotency_keys").size() == 1);
    Shop.complete(running, Optional.empty());
    assertThat(erasing.join()).isEqualTo(new ErasureResult(true, 2, 0, 0));
    assertThat(shop.rows("SELECT id::text FROM idempotency.idempotency_keys")).isEmpty();
  }

  @Test
  void aHundredThousandRecordsAreErasedInBatches() {
    shop.superuser()
        .useHandle(
            handle ->
                handle.execute(
                    """
                    INSERT INTO idempotency.idempotency_keys
                      (id, idempotency_key, user_uuid, procedure, request_hash, hash_version,
                       response_bytes, completed, expires)
                    SELECT gen_random_uuid(), 'k' || n,
                           CASE WHEN n % 2 = 0 THEN CAST(? AS uuid) ELSE gen_random_uuid() END,
                           'p', '\\x00', 1, '\\x00', now(), now() + interval '1 day'
                      FROM generate_series(1, 200000) AS n
                    """,
                    user.userId()));

    ErasureResult erased = operator.erase(Erasure.ofSubject(SUBJECT), ACT, Duration.ZERO, false);

    assertThat(erased).isEqualTo(new ErasureResult(true, 100_000, 0, 0));
    assertThat(shop.rows("SELECT count(*)::text FROM idempotency.idempotency_keys"))
        .containsExactly("100000");
    assertThat(operator.audit(AuditQuery.newest(100)).stream().mapToInt(AuditEntry::deleted).sum())
        .isEqualTo(100_000);
  }

  @Test
  void aWaitReadsTheWholeTableOnceAndThenWhatIsRunning() {
    shop.superuser()
        .useHandle(
            handle ->
                handle.execute(
                    """
                    INSERT INTO idempotency.idempotency_keys
                      (id, idempotency_key, user_uuid, procedure, request_hash, hash_version,
                       response_bytes, completed, expires)
                    SELECT gen_random_uuid(), 'k' || n, gen_random_uuid(),
                           'p', '\\x00', 1, '\\x00', now(), now() + interval '1 day'
                      FROM generate_series(1, 40000) AS n
                    """));
    Claim unending = shop.claim(Shop.request(user, "running"));
    shop.superuser()
        .useHandle(
            handle ->
                handle.execute(
                    "UPDATE idempotency.idempotency_keys"
                        + " SET id = 'ffffffff-ffff-7fff-bfff-ffffffffffff' WHERE id = ?",
                    unending.operationId()));
    AtomicInteger batches = new AtomicInteger();
    PGSimpleDataSource counted =
        new PGSimpleDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            batches.incrementAndGet();
            return super.getConnection();
          }
        };
    counted.setUrl(shop.url(Shop.OPERATOR));

    Duration wait = Duration.ofSeconds(3);
    assertThat(Administration.on(counted).erase(Erasure.ofSubject(SUBJECT), ACT, wait, false))
        .isEqualTo(new ErasureResult(true, 0, 0, 1));

    // Five batches of the whole table, and one in each second of the wait.
    assertThat(batches).hasValueLessThan(5 + 5);
  }
}
