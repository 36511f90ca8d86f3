package io.github.grpcidempotency.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.run.server.RunningServer;
import io.github.grpcidempotency.example.service.Settings;
import java.time.Duration;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;

/** Two whole servers on one database, each with its scheduler. */
class TwoServersTest {
  private static final String STATED = "SELECT count(DISTINCT until) FROM billing.usage_statements";
  private static final String STATEMENTS = "SELECT count(*) FROM billing.usage_statements";

  @Test
  void eachRunOfTheScheduledJobIsRunByOneOfThem() {
    try (EmbeddedDatabase database = MigratedDatabase.start()) {
      Settings settings = RunningExample.settings(database);
      Settings often =
          new Settings(
              settings.lease(),
              settings.outboxDelay(),
              Duration.ofMillis(100),
              settings.retentions(),
              settings.secrets(),
              settings.cloud());
      try (RunningServer one = RunningServer.start(0, often, database);
          RunningServer other = RunningServer.start(0, often, database)) {
        assertThat(one.port()).isNotEqualTo(other.port());
        await().atMost(Duration.ofMinutes(2)).until(() -> count(database, STATED) >= 30);
      }
      assertThat(count(database, STATEMENTS)).isEqualTo(count(database, STATED));
    }
  }

  private static int count(EmbeddedDatabase database, String sql) {
    try (Handle superuser = Jdbi.open(database.superuser())) {
      return superuser.createQuery(sql).mapTo(Integer.class).one();
    }
  }
}
