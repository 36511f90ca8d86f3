package io.github.grpcidempotency.admin;

import static io.github.grpcidempotency.admin.Shop.ACT;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is known of a key after operators, other servers and clocks have acted on it. */
class HistoryTest {
  @RegisterExtension static final Shop shop = Shop.open();

  private final Administration operator = shop.operator();
  private final Caller user = Caller.of(UUID.randomUUID());

  @Test
  void aFreedOperationIsFoundByItsKeyAfterANewRun() {
    ClaimRequest request = Shop.request(user.inTenant("acme").inProject("apollo"), "order-1");
    Claim first = shop.claim(request);
    shop.endLease(first.operationId());
    assertThat(operator.free(first.operationId(), ACT, false, false)).isEqualTo(ActResult.DONE);
    Claim second = shop.claim(request);
    Shop.complete(second, Optional.empty());
    assertThat(operator.forget(second.operationId(), ACT, false)).isEqualTo(ActResult.DONE);
    UUID third = shop.claim(request).operationId();

    assertThat(operator.findKey("order-1", Scope.ALL))
        .extracting(OperationRecord::id)
        .containsExactly(third);
    List<AuditEntry> history =
        operator.audit(AuditQuery.newest(10).ofKey("order-1", Scope.ALL, Optional.empty()));
    assertThat(history).extracting(AuditEntry::act).containsExactly("forget", "free");
    AuditEntry freed = history.get(1);
    assertThat(freed.operationId()).contains(first.operationId());
    assertThat(freed.tenant()).contains("acme");
    assertThat(freed.project()).contains("apollo");
    assertThat(freed.servers()).hasSize(1);
    assertThat(freed.claimed()).isPresent();
    assertThat(freed.recorded()).isEmpty();
    assertThat(history.get(0).recorded()).isPresent();
    assertThat(freed.keyHash()).isPresent().isEqualTo(history.get(0).keyHash());
    assertThat(
            operator.audit(
                AuditQuery.newest(10).ofKey("order-1", Scope.ofTenant("acme"), Optional.empty())))
        .hasSize(2);
    assertThat(
            operator.audit(
                AuditQuery.newest(10)
                    .ofKey("order-1", Scope.ofTenant("umbrella"), Optional.empty())))
        .isEmpty();
    assertThat(operator.audit(AuditQuery.newest(10).ofKey("order-2", Scope.ALL, Optional.empty())))
        .isEmpty();
  }

  @Test
  void theAddressOfTheSessionIsInTheAuditBesideItsRole() {
    assertThat(operator.forget(UUID.randomUUID(), ACT, false)).isEqualTo(ActResult.NOT_FOUND);

    assertThat(operator.audit(AuditQuery.newest(1)).get(0).address().orElseThrow())
        .startsWith("127.0.0.1");
  }

  @Test
  void anActIsFoundByActorKindAndTime() {
    UUID id = shop.record().operationId();
    assertThat(operator.free(id, ACT, false, false)).isEqualTo(ActResult.ALREADY_RECORDED);
    assertThat(operator.forget(id, new Act("grace", "why"), false)).isEqualTo(ActResult.DONE);
    AuditEntry last = operator.audit(AuditQuery.newest(1)).get(0);

    assertThat(acts(Optional.of("ada"), Optional.empty(), Optional.empty(), Optional.empty()))
        .containsExactly("free");
    assertThat(acts(Optional.empty(), Optional.of("forget"), Optional.empty(), Optional.empty()))
        .containsExactly("forget");
    assertThat(acts(Optional.empty(), Optional.empty(), Optional.of(last.at()), Optional.empty()))
        .containsExactly("forget");
    assertThat(acts(Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(last.at())))
        .containsExactly("free");
  }

  private List<String> acts(
      Optional<String> actor,
      Optional<String> act,
      Optional<Instant> since,
      Optional<Instant> until) {
    return operator
        .audit(
            new AuditQuery(
                Optional.empty(),
                Optional.empty(),
                Scope.ALL,
                Optional.empty(),
                actor,
                act,
                since,
                until,
                Optional.empty(),
                10))
        .stream()
        .map(AuditEntry::act)
        .toList();
  }

  @Test
  void theServersOfEarlierAttemptsAreReturnedWithTheTimesOfTheTakeovers() {
    ClaimRequest request = Shop.request(user, "order-2");
    UUID id = shop.claim(request).operationId();
    for (String server : List.of("a:1", "b:2")) {
      shop.set(id, "server = '%s'".formatted(server));
      shop.endLease(id);
      assertThat(shop.store().claim(request)).isInstanceOf(ClaimResult.Won.class);
    }

    OperationRecord found = operator.find(id).orElseThrow();
    assertThat(found.attempt()).isEqualTo(3);
    assertThat(found.takeovers())
        .extracting(OperationRecord.Takeover::server)
        .containsExactly("a:1", "b:2");
    assertThat(found.takeovers().get(1).at())
        .isAfterOrEqualTo(found.takeovers().get(0).at())
        .isBeforeOrEqualTo(found.read());
  }

  @Test
  void aReplayThatRetainsARecordIsReturned() {
    ClaimRequest request = Shop.request(user, "order-3");
    Claim claim = shop.claim(request);
    Shop.complete(claim, Optional.empty());
    assertThat(operator.find(claim.operationId()).orElseThrow().retained()).isEmpty();
    shop.set(claim.operationId(), "expires = now() + interval '1 hour'");

    shop.store().retain(request, (ClaimResult.Recorded) shop.store().claim(request));

    assertThat(operator.find(claim.operationId()).orElseThrow().retained()).isPresent();
  }

  @Test
  void aKeyIsFoundInEveryTenantAndProjectWithAndWithoutAColon() {
    for (String key : List.of("order-4", "provider:order-4")) {
      for (int tenant = 0; tenant < 5; tenant++) {
        for (String project : List.of("apollo", "gemini")) {
          Caller caller = user.inTenant("t" + tenant).inProject(project);
          shop.claim(Shop.request(caller, key));
          shop.claim(Shop.request(caller, "another-" + key));
        }
      }
      shop.claim(Shop.request(user, key));
      shop.claim(Shop.request(user, "another-" + key));

      assertThat(operator.findKey(key, Scope.ALL)).hasSize(11);
      assertThat(operator.findKey(key, Scope.ofTenant("t3"))).hasSize(2);
      assertThat(operator.findKey(key, Scope.ofProject("t3", "gemini")))
          .extracting(OperationRecord::project)
          .containsExactly("gemini");
    }
  }

  @Test
  void projectsOfWhichOneBeginsWithTheOtherAreAllSearched() {
    for (String project : List.of("apollo", "apollo2", "apollo.3")) {
      shop.claim(Shop.request(user.inTenant("acme").inProject(project), "order-7"));
    }

    assertThat(operator.findKey("order-7", Scope.ofTenant("acme"))).hasSize(3);
  }

  @Test
  void aLeaseThatEndsTooLateIsReportedAndItsReservationCanBeFreed() {
    Claim dead = shop.claim();
    Claim alive = shop.claim();
    UUID id = dead.operationId();
    assertThat(shop.store().renew(List.of(alive))).hasSize(1);
    shop.set(
        id, "created = created + interval '3 h', lease_expires = lease_expires + interval '3 h'");

    OperationRecord found = operator.find(id).orElseThrow();
    assertThat(found.leaseIsAhead()).isTrue();
    assertThat(found.state()).isEqualTo(OperationState.STUCK);
    assertThat(found.age()).isEqualTo(Duration.ZERO);
    assertThat(operator.find(alive.operationId()).orElseThrow().leaseIsAhead()).isFalse();
    assertThat(operator.list(OperationQuery.all().in(OperationState.STUCK)).operations())
        .extracting(OperationRecord::id)
        .containsExactly(id);
    Statistics.InFlight statistics = operator.statistics().inFlight().orElseThrow();
    assertThat(statistics.stuck()).isEqualTo(1);
    assertThat(statistics.oldest().orElseThrow()).isGreaterThanOrEqualTo(Duration.ZERO);

    assertThat(operator.free(alive.operationId(), ACT, false, false))
        .isEqualTo(ActResult.OWNER_LIVES);
    assertThat(operator.free(id, ACT, false, false)).isEqualTo(ActResult.DONE);
    assertThat(operator.audit(AuditQuery.newest(1)).get(0).forced()).isFalse();
  }

  /**
   * Otherwise the first call with a longer lease than before would look as if a clock went back.
   */
  @Test
  void theLeaseOfAServerIsKnownFromItsStart() {
    shop.store(Duration.ofHours(3)).verify(List.of(), Optional.empty());

    assertThat(
            shop.rows(
                "SELECT value FROM idempotency.idempotency_facts WHERE name = 'longest_lease'"))
        .containsExactly(String.valueOf(Duration.ofHours(3).toMillis()));
    shop.execute(
        Shop.OWNER, "DELETE FROM idempotency.idempotency_facts WHERE name = 'longest_lease'");
  }

  @Test
  void aLeaseOfALongRunIsNotTooLate() {
    Claim claim = shop.claim();
    shop.set(claim.operationId(), "created = created - interval '1 day'");
    assertThat(shop.store(Duration.ofMinutes(1)).renew(List.of(claim))).hasSize(1);
    assertThat(shop.store().renew(List.of(claim))).hasSize(1);

    assertThat(operator.find(claim.operationId()).orElseThrow().leaseIsAhead()).isFalse();
  }

  @Test
  void theLocksOfTransactionalCallsAreCounted() {
    long before = operator.statistics().keyLocks();
    Claim claim =
        ((ClaimResult.Won) shop.store().claimInTransaction(Shop.request(user, "order-5"))).claim();

    assertThat(operator.statistics().keyLocks()).isEqualTo(before + 1);
    Shop.complete(claim, Optional.empty());
    assertThat(operator.statistics().keyLocks()).isEqualTo(before);
  }

  @Test
  void aListIsRestrictedByServerAndTime() {
    UUID here = shop.record().operationId();
    UUID there = shop.record().operationId();
    shop.set(there, "server = 'a:1'");
    UUID old = shop.record().operationId();
    shop.set(old, "created = now() - interval '2 hours'");

    assertThat(operator.list(OperationQuery.all().on("a:1")).operations())
        .extracting(OperationRecord::id)
        .containsExactly(there);
    OperationQuery newer =
        new OperationQuery(
            Set.of(),
            Optional.empty(),
            Scope.ALL,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(Duration.ofHours(1)),
            Optional.empty(),
            Optional.empty(),
            10);
    assertThat(operator.list(newer).operations())
        .extracting(OperationRecord::id)
        .containsExactly(there, here);
  }
}
