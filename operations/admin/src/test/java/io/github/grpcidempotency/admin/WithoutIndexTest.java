package io.github.grpcidempotency.admin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A service that has not asked for the index of what is in flight. */
class WithoutIndexTest {
  @RegisterExtension static final Shop shop = Shop.open();

  @BeforeAll
  static void noIndex() {
    shop.execute(Shop.OWNER, "DROP INDEX idempotency.idempotency_keys_in_flight");
  }

  @Test
  void reservationsAreFoundAndListedButNotCounted() {
    OperationRecord claimed = shop.operator().find(shop.claim().operationId()).orElseThrow();
    shop.record();

    assertThat(shop.operator().statistics().inFlight()).isEmpty();
    assertThat(shop.operator().list(OperationQuery.all().in(OperationState.RUNNING)).operations())
        .extracting(OperationRecord::id)
        .containsExactly(claimed.id());
  }
}
