package io.github.grpcidempotency.admin;

import static io.github.grpcidempotency.admin.Shop.ACT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.spi.Claim;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A pooler may lend the connection to somebody else after each transaction. */
class SessionTest {
  @RegisterExtension static final Shop shop = Shop.open();

  private static final String STATE =
      """
      SELECT name || '=' || setting FROM pg_settings
       UNION ALL
      SELECT name || '=' || COALESCE(NULLIF(current_setting(name, true), ''), 'unset')
        FROM unnest(ARRAY['idempotency.operator', 'app.current_user_id']) AS own (name)
       UNION ALL
      SELECT 'lock ' || locktype FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'
       ORDER BY 1
      """;

  @Test
  void nothingIsLeftBehindInTheSession() {
    HikariConfig config = new HikariConfig();
    config.setDataSource(shop.as(Shop.OPERATOR));
    config.setMaximumPoolSize(1);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      Administration operator = Administration.on(pool);
      Claim claim = shop.claim();
      Shop.complete(claim, Optional.of(shop.order()));
      OperationRecord found = operator.find(claim.operationId()).orElseThrow();
      List<String> before = state(pool);

      assertThat(operator.list(OperationQuery.all()).operations()).hasSize(1);
      assertThat(operator.statistics().inFlight().orElseThrow().all()).isZero();
      assertThat(operator.free(found.id(), ACT, false, false))
          .isEqualTo(ActResult.ALREADY_RECORDED);
      assertThatThrownBy(() -> operator.contents(found.id(), ACT))
          .isInstanceOf(AdministrationException.class);
      assertThat(operator.forget(found.id(), ACT, false)).isEqualTo(ActResult.DONE);
      assertThat(operator.isRunning("key", Scope.ALL, UUID.randomUUID())).isFalse();
      assertThat(operator.transactions("key", Scope.ALL, UUID.randomUUID())).isEmpty();
      assertThat(operator.procedures()).isEmpty();

      assertThat(state(pool)).isEqualTo(before);
    }
  }

  private static List<String> state(HikariDataSource pool) {
    return Jdbi.create(pool)
        .withHandle(handle -> handle.createQuery(STATE).mapTo(String.class).list());
  }
}
