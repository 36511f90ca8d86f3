package io.github.grpcidempotency.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.OperationCatalog;
import io.github.grpcidempotency.spi.OperationStore;
import io.github.grpcidempotency.spi.StoredOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * The tests of the guarantees of every {@link OperationStore}, in addition to those of every store.
 */
public abstract class OperationStoreContract extends IdempotencyStoreContract {
  private static final Set<String> BOTH = Set.of(CREATE_THING.name(), CREATE_OTHER.name());

  @Override
  protected abstract OperationStore newStore(Duration lease);

  private static OperationCatalog catalogOf(OperationStore store) {
    return store.operations(List.of(CREATE_THING, CREATE_OTHER));
  }

  @Test
  void aRunningOperationIsFoundById() {
    OperationStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());

    StoredOperation found = only(catalogOf(store).find(user, List.of(claim.operationId())));

    assertThat(found.id()).isEqualTo(claim.operationId());
    assertThat(found.key()).isEqualTo(claim.request().key());
    assertThat(found.procedure()).isEqualTo(CREATE_THING.name());
    assertThat(found.answered()).isEmpty();
    assertThat(found.standing()).isInstanceOf(ClaimResult.InFlight.class);
  }

  @Test
  void anAnsweredOperationIsFoundWithItsAnswer() {
    OperationStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());
    ResourceId thing = newThing(user.userId());
    claim.complete(answerWith(thing));

    StoredOperation found = only(catalogOf(store).find(user, List.of(claim.operationId())));

    assertThat(found.answered().orElseThrow()).isAfterOrEqualTo(found.created());
    ClaimResult.Recorded recorded = (ClaimResult.Recorded) found.standing();
    assertThat(recorded.outcome()).isEqualTo(answerWith(thing));
    assertThat(recorded.operationId()).isEqualTo(claim.operationId());
    assertThat(recorded.expires()).isEqualTo(claim.expires());
  }

  @Test
  void anOperationWhoseAnswerNamesNoResourceHasNoStatus() {
    OperationStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());
    claim.complete(ANSWER);

    StoredOperation found = only(catalogOf(store).find(user, List.of(claim.operationId())));

    assertThat(((ClaimResult.Recorded) found.standing()).status()).isEmpty();
  }

  @Test
  void anAnsweredOperationIsFoundWithItsTrace() {
    OperationStore store = newStore(LONG_LEASE);
    Claim claim = win(store, traced("a trace"));
    claim.complete(ANSWER);

    StoredOperation found = only(catalogOf(store).find(user, List.of(claim.operationId())));

    assertThat(((ClaimResult.Recorded) found.standing()).trace()).isEqualTo(trace("a trace"));
  }

  @Test
  void operationsOfOtherUsersAndNamespacesAreNotFound() {
    OperationStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());
    claim.complete(ANSWER);
    OperationCatalog catalog = catalogOf(store);

    for (Caller other : List.of(Caller.of(UUID.randomUUID()), user.inTenant("acme"))) {
      assertThat(catalog.find(other, List.of(claim.operationId()))).isEmpty();
      assertThat(catalog.list(other, BOTH, Optional.empty(), 10)).isEmpty();
      assertThat(catalog.forget(other, claim.operationId())).isFalse();
    }
    assertThat(catalog.find(user, List.of(claim.operationId()))).hasSize(1);
  }

  @Test
  void theKeyOfAnOperationIsTheOneThatWasClaimed() {
    OperationStore store = newStore(LONG_LEASE);
    Caller inProject = user.inTenant("acme").inProject("apollo");
    for (Caller caller : List.of(user, inProject)) {
      for (String key : List.of("plain", "sched:1:2026", ":begins")) {
        ClaimRequest request =
            request(new IdempotencyKey(caller, key), CREATE_THING, REQUEST, LONG_LEASE);
        UUID id = win(store, request).operationId();

        assertThat(only(catalogOf(store).find(caller, List.of(id))).key()).isEqualTo(request.key());
      }
    }
  }

  @Test
  void anOperationOfAnotherProcedureIsNotFound() {
    OperationStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());

    assertThat(store.operations(List.of(CREATE_OTHER)).find(user, List.of(claim.operationId())))
        .isEmpty();
  }

  @Test
  void anExpiredOperationIsNotFound() {
    OperationStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request(SHORT_RETENTION));
    claim.complete(ANSWER);
    letPass(SHORT_RETENTION);

    assertThat(catalogOf(store).find(user, List.of(claim.operationId()))).isEmpty();
    assertThat(catalogOf(store).list(user, BOTH, Optional.empty(), 10)).isEmpty();
  }

  @Test
  void operationsAreListedTheNewestFirstAndPageByPage() {
    OperationStore store = newStore(LONG_LEASE);
    List<UUID> ids = new ArrayList<>();
    for (int each = 0; each < 5; each++) {
      ids.add(0, win(store, another(user)).operationId());
    }
    OperationCatalog catalog = catalogOf(store);

    List<UUID> first = idsOf(catalog.list(user, BOTH, Optional.empty(), 3));
    List<UUID> second = idsOf(catalog.list(user, BOTH, Optional.of(first.get(2)), 3));

    assertThat(first).isEqualTo(ids.subList(0, 3));
    assertThat(second).isEqualTo(ids.subList(3, 5));
    assertThat(catalog.list(user, Set.of(CREATE_OTHER.name()), Optional.empty(), 3)).isEmpty();
  }

  @Test
  void anAnsweredOperationIsForgottenOnceAndItsKeyIsFree() {
    OperationStore store = newStore(LONG_LEASE);
    Claim claim = win(store, request());
    OperationCatalog catalog = catalogOf(store);
    assertThat(catalog.forget(user, claim.operationId())).as("it runs").isFalse();
    claim.complete(ANSWER);

    assertThat(catalog.forget(user, claim.operationId())).isTrue();

    assertThat(catalog.forget(user, claim.operationId())).isFalse();
    assertThat(win(store, request()).operationId()).isNotEqualTo(claim.operationId());
  }

  private static List<UUID> idsOf(List<StoredOperation> operations) {
    return operations.stream().map(StoredOperation::id).toList();
  }

  private static StoredOperation only(List<StoredOperation> operations) {
    assertThat(operations).hasSize(1);
    return operations.get(0);
  }
}
