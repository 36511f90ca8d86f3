package io.github.grpcidempotency.admin;

import static io.github.grpcidempotency.admin.Shop.ACT;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A session of an operator goes on when the table moves to partitions. */
class MovedTableTest {
  @RegisterExtension static final Shop shop = Shop.open();

  @Test
  void anOpenSessionGoesOnAfterTheTableHasMoved() throws Exception {
    try (HikariDataSource session = sessionOf(Shop.OPERATOR);
        HikariDataSource reading = sessionOf(Shop.READER)) {
      Administration operator = Administration.on(session);
      Administration reader = Administration.on(reading);
      useAll(operator, reader);
      shop.runScript(Shop.OWNER, IdempotencySchema.partitions("idempotency"));
      shop.execute(Shop.OWNER, "CALL idempotency.move_to_partitions(2)");

      useAll(operator, reader);
    }
  }

  private static HikariDataSource sessionOf(String role) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(shop.as(role));
    config.setMaximumPoolSize(1);
    return new HikariDataSource(config);
  }

  /** Does everything that an operator can do. */
  private static void useAll(Administration operator, Administration reader) {
    UUID stuck = shop.claim().operationId();
    shop.endLease(stuck);
    UUID recorded = shop.record().operationId();
    Caller user = Caller.of(UUID.randomUUID());
    shop.claimAndRecord(user);

    assertThat(operator.find(stuck)).isPresent();
    assertThat(operator.findKey("no such key", Scope.ALL)).isEmpty();
    assertThat(operator.isRunning("no such key", Scope.ALL, user.userId())).isFalse();
    assertThat(operator.transactions("no such key", Scope.ALL, user.userId())).isEmpty();
    assertThat(operator.list(OperationQuery.all()).operations()).isNotEmpty();
    assertThat(reader.contents(recorded, ACT)).isPresent();
    assertThat(operator.free(stuck, ACT, false, true)).isEqualTo(ActResult.WOULD_BE_DONE);
    assertThat(operator.free(stuck, ACT, false, false)).isEqualTo(ActResult.DONE);
    assertThat(operator.forget(recorded, ACT, false)).isEqualTo(ActResult.DONE);
    assertThat(operator.erase(Erasure.ofUser(user.userId()), ACT, Duration.ZERO, false).records())
        .isEqualTo(1);
    assertThat(operator.audit(AuditQuery.newest(10))).isNotEmpty();
    assertThat(operator.statistics().rows()).isNotNegative();
    shop.record();
    assertThat(operator.procedures())
        .singleElement()
        .satisfies(each -> assertThat(each.lastHour()).isPositive());
    shop.expire(shop.record().operationId());
    assertThat(operator.sweep(ACT)).isEqualTo(1);
  }
}
