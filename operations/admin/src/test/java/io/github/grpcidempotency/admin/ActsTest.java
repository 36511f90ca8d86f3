package io.github.grpcidempotency.admin;

import static io.github.grpcidempotency.admin.Shop.ACT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ActsTest {
  @RegisterExtension static final Shop shop = Shop.open();

  private final Administration operator = shop.operator();
  private final Administration reader = shop.reader();

  @Test
  void aFreedKeyRunsAgainAndItsFormerOwnerCannotRecord() {
    ClaimRequest request = Shop.request(Caller.of(UUID.randomUUID()), "key");
    Claim zombie = shop.claim(request);
    shop.endLease(zombie.operationId());

    assertThat(operator.free(zombie.operationId(), ACT, false, false)).isEqualTo(ActResult.DONE);

    Claim next = shop.claim(request);
    assertThat(next.operationId()).isNotEqualTo(zombie.operationId());
    assertThat(next.attempt()).isEqualTo(1);
    assertThat(shop.store().renew(List.of(zombie))).isEmpty();
    assertThat(zombie.release()).isEqualTo(Claim.Settled.LOST);
    Shop.complete(next, Optional.empty());
    assertThat(shop.store().claim(request)).isInstanceOf(ClaimResult.Recorded.class);
  }

  @Test
  void aLiveReservationIsProtectedUnlessTheOperatorForcesIt() {
    ClaimRequest request = Shop.request(Caller.of(UUID.randomUUID()), "key");
    Claim claim = shop.claim(request);
    UUID id = claim.operationId();

    assertThat(operator.free(id, ACT, false, false)).isEqualTo(ActResult.OWNER_LIVES);
    assertThat(operator.find(id)).isPresent();
    assertThat(operator.free(id, ACT, true, false)).isEqualTo(ActResult.DONE);
    assertThat(operator.find(id)).isEmpty();
    assertThat(
            operator.audit(AuditQuery.newest(10).ofOperation(id)).stream().map(AuditEntry::forced))
        .containsExactly(true, false);
    assertThat(shop.claim(request).attempt()).as("a run beside the first").isEqualTo(1);
    assertThat(claim.release()).isEqualTo(Claim.Settled.LOST);
  }

  @Test
  void anUnknownOutcomeHasNoLiveOwner() {
    Claim claim = shop.claim();
    assertThat(claim.markUnknown()).isEqualTo(Claim.Settled.DONE);

    assertThat(operator.free(claim.operationId(), ACT, false, false)).isEqualTo(ActResult.DONE);
    assertThat(operator.audit(AuditQuery.newest(10)).get(0).forced()).isFalse();
  }

  @Test
  void aRecordIsForgottenAndAReservationIsFreed() {
    UUID recorded = shop.record().operationId();
    UUID running = shop.claim().operationId();

    assertThat(operator.free(recorded, ACT, true, false)).isEqualTo(ActResult.ALREADY_RECORDED);
    assertThat(operator.forget(running, ACT, false)).isEqualTo(ActResult.NOT_RECORDED);
    assertThat(operator.forget(recorded, ACT, false)).isEqualTo(ActResult.DONE);
    assertThat(operator.find(recorded)).isEmpty();
    assertThat(operator.find(running)).isPresent();
  }

  @Test
  void aDryRunReturnsTheResultChangesNothingAndIsNotAudited() {
    UUID running = shop.claim().operationId();
    UUID recorded = shop.record().operationId();
    List<String> before = shop.rows("SELECT k::text FROM idempotency.idempotency_keys AS k");

    assertThat(operator.free(running, ACT, false, true)).isEqualTo(ActResult.OWNER_LIVES);
    assertThat(operator.free(running, ACT, true, true)).isEqualTo(ActResult.WOULD_BE_DONE);
    assertThat(operator.free(recorded, ACT, true, true)).isEqualTo(ActResult.ALREADY_RECORDED);
    assertThat(operator.forget(recorded, ACT, true)).isEqualTo(ActResult.WOULD_BE_DONE);
    assertThat(operator.forget(running, ACT, true)).isEqualTo(ActResult.NOT_RECORDED);
    assertThat(operator.forget(UUID.randomUUID(), ACT, true)).isEqualTo(ActResult.NOT_FOUND);

    assertThat(shop.rows("SELECT k::text FROM idempotency.idempotency_keys AS k"))
        .isEqualTo(before);
    assertThat(operator.audit(AuditQuery.newest(10))).isEmpty();
  }

  @Test
  void everyActDoneOrRefusedLeavesOneRow() {
    Claim claim = shop.claim();
    UUID id = claim.operationId();
    UUID user = claim.request().key().caller().userId();
    UUID absent = UUID.randomUUID();
    UUID recorded = shop.record().operationId();

    assertThat(operator.free(id, ACT, false, false)).isEqualTo(ActResult.OWNER_LIVES);
    assertThat(operator.free(id, ACT, true, false)).isEqualTo(ActResult.DONE);
    assertThat(operator.forget(absent, ACT, false)).isEqualTo(ActResult.NOT_FOUND);
    assertThat(reader.contents(recorded, ACT)).isPresent();
    assertThat(operator.forget(recorded, new Act("grace", "a test"), false))
        .isEqualTo(ActResult.DONE);

    List<AuditEntry> audit = operator.audit(AuditQuery.newest(10));
    assertThat(audit.stream().map(entry -> entry.act() + " " + entry.result()))
        .containsExactly(
            "forget DONE",
            "read_contents DONE",
            "forget NOT_FOUND",
            "free DONE",
            "free OWNER_LIVES");
    AuditEntry freed = audit.get(3);
    assertThat(freed.role()).isEqualTo(Shop.OPERATOR);
    assertThat(freed.actor()).isEqualTo("ada");
    assertThat(freed.reason()).isEqualTo("ticket 4711");
    assertThat(freed.operationId()).contains(id);
    assertThat(freed.procedure()).contains(Shop.CREATE_ORDER);
    assertThat(freed.userId()).contains(user);
    assertThat(freed.attempt()).contains(1);
    assertThat(freed.deleted()).isEqualTo(1);
    assertThat(freed.at()).isBefore(audit.get(0).at());
    AuditEntry notFound = audit.get(2);
    assertThat(notFound.operationId()).contains(absent);
    assertThat(notFound.procedure()).isEmpty();
    assertThat(notFound.userId()).isEmpty();
    assertThat(notFound.attempt()).isEmpty();
    assertThat(notFound.deleted()).isZero();
    assertThat(audit.get(1).role()).isEqualTo(Shop.READER);
    assertThat(audit.get(0).actor()).isEqualTo("grace");
  }

  @Test
  void theAuditIsReadByOperationAndPageByPage() {
    UUID id = shop.record().operationId();
    for (int act = 0; act < 3; act++) {
      assertThat(operator.free(id, ACT, false, false)).isEqualTo(ActResult.ALREADY_RECORDED);
      assertThat(operator.free(UUID.randomUUID(), ACT, false, false))
          .isEqualTo(ActResult.NOT_FOUND);
    }

    assertThat(operator.audit(AuditQuery.newest(10).ofOperation(id))).hasSize(3);
    List<AuditEntry> first = operator.audit(AuditQuery.newest(4));
    List<AuditEntry> rest = operator.audit(AuditQuery.newest(10).before(first.get(3).id()));
    assertThat(first).hasSize(4);
    assertThat(rest).hasSize(2);
    assertThat(rest.get(0).id()).isLessThan(first.get(3).id());
  }

  @Test
  void theAuditHasNoKeyAndNoContents() {
    String key = "a-key-that-nobody-may-read";
    Claim claim = shop.claim(Shop.request(Caller.of(UUID.randomUUID()), key));
    Shop.complete(claim, Optional.empty());
    assertThat(reader.contents(claim.operationId(), ACT)).isPresent();
    assertThat(operator.forget(claim.operationId(), ACT, false)).isEqualTo(ActResult.DONE);

    assertThat(shop.rows("SELECT a::text FROM idempotency.idempotency_audit AS a"))
        .hasSize(2)
        .noneMatch(row -> row.contains(key) || row.contains("an answer"));
  }

  @Test
  void anActThatIsRolledBackLeavesNeitherItsChangeNorItsRow() {
    UUID id = shop.record().operationId();

    Jdbi.create(shop.as(Shop.OPERATOR))
        .useHandle(
            handle -> {
              handle.begin();
              assertThat(
                      handle
                          .createQuery(
                              "SELECT idempotency.operator_delete('forget', ?, 'ada', 'why', true, false)")
                          .bind(0, id)
                          .mapTo(String.class)
                          .one())
                  .isEqualTo("done");
              handle.rollback();
            });

    assertThat(operator.find(id)).isPresent();
    assertThat(operator.audit(AuditQuery.newest(10))).isEmpty();
  }

  @Test
  void anActIsCommittedAlsoOnAPoolWithoutAutocommit() {
    UUID id = shop.record().operationId();
    HikariConfig config = new HikariConfig();
    config.setDataSource(shop.as(Shop.OPERATOR));
    config.setAutoCommit(false);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      assertThat(Administration.on(pool).forget(id, ACT, false)).isEqualTo(ActResult.DONE);
    }

    assertThat(operator.find(id)).isEmpty();
    assertThat(operator.audit(AuditQuery.newest(10).ofOperation(id))).hasSize(1);
  }

  @Test
  void anActNeedsAReasonAlsoInTheDatabase() {
    assertThatThrownBy(() -> new Act("ada", " ")).isInstanceOf(IllegalArgumentException.class);
    for (String arguments :
        List.of(
            "'ada', ' '", "'', 'why'", "'ada', NULL", "NULL, 'why'", "'ada', repeat('x', 1001)")) {
      assertThatThrownBy(
              () ->
                  shop.execute(
                      Shop.OPERATOR,
                      "SELECT idempotency.operator_delete('free', gen_random_uuid(), %s, false, false)"
                          .formatted(arguments)))
          .hasMessageContaining("an act needs an actor and a reason");
    }
  }

  @Test
  void contentsAreReadAsTheyAreStored() {
    UUID recorded = shop.record().operationId();
    UUID running = shop.claim().operationId();

    Contents contents = reader.contents(recorded, ACT).orElseThrow();

    assertThat(contents.response().orElseThrow())
        .isEqualTo("an answer".getBytes(StandardCharsets.UTF_8));
    assertThat(contents.failure()).isEmpty();
    assertThat(contents.toString()).doesNotContain("an answer");
    assertThat(reader.contents(running, ACT)).isEmpty();
    assertThat(reader.contents(UUID.randomUUID(), ACT)).isEmpty();
    assertThat(operator.audit(AuditQuery.newest(10)).stream().map(AuditEntry::result))
        .containsExactly(ActResult.NOT_FOUND, ActResult.NOT_RECORDED, ActResult.DONE);
  }

  @Test
  void expiredRecordsAreSweptAndTheSweepIsAuditedOnce() {
    insertExpired();
    UUID kept = shop.record().operationId();

    assertThat(operator.sweep(ACT)).isEqualTo(1_500);

    assertThat(operator.find(kept)).isPresent();
    assertThat(operator.statistics().expired()).isZero();
    assertThat(operator.audit(AuditQuery.newest(10)).stream().map(AuditEntry::deleted))
        .containsExactly(1_500);
    assertThat(operator.sweep(ACT)).isZero();
    assertThat(operator.audit(AuditQuery.newest(10))).hasSize(1);
  }

  @Test
  void aSweepThatIsInterruptedIsAuditedToo() {
    insertExpired();

    Thread.currentThread().interrupt();
    long swept = operator.sweep(ACT);

    assertThat(Thread.interrupted()).isTrue();
    assertThat(swept).isEqualTo(1_000);
    assertThat(operator.audit(AuditQuery.newest(10)).stream().map(AuditEntry::deleted))
        .containsExactly(1_000);
  }

  private static void insertExpired() {
    shop.superuser()
        .useHandle(
            handle ->
                handle.execute(
                    "INSERT INTO idempotency.idempotency_keys (id, idempotency_key, user_uuid,"
                        + " procedure, request_hash, hash_version,  completed, expires) SELECT"
                        + " gen_random_uuid(), n::text, gen_random_uuid(), 'p', '', 1, now(),      "
                        + "  now() - interval '1 s'   FROM generate_series(1, 1500) AS n"));
  }
}
