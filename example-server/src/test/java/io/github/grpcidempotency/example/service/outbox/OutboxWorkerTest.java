package io.github.grpcidempotency.example.service.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.example.Databases;
import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.service.background.Repeating;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The worker, as its own role, on entries of several users. */
class OutboxWorkerTest {
  private static final String ENQUEUE_MANY =
      """
      INSERT INTO authz.outbox
        (user_id, resource_id, resource_name, subject, relation, object, next_attempt)
      SELECT gen_random_uuid(), gen_random_uuid(), :name, 'user:' || n, 'owner', 'project:' || n, now()
      FROM generate_series(1, :count) AS n
      """;

  private static Database database;
  private static Jdbi superuser;

  @BeforeAll
  static void startDatabase() {
    database = Databases.copy();
    superuser = Jdbi.create(database.superuser());
  }

  @AfterEach
  void emptyTables() {
    superuser.useHandle(handle -> handle.execute("TRUNCATE authz.outbox, authz.tuples"));
  }

  @Test
  void threeWorkersAttemptEachEntryOnce() {
    enqueue("apollo", 500);
    drainWith(3, () -> count("status = 'completed'") == 500);
    assertThat(count("attempts = 1")).isEqualTo(500);
    assertThat(tuples()).isEqualTo(500);
  }

  @Test
  void aFailureIsRetriedAndForgottenOnceItSucceeds() {
    enqueue("flaky-apollo", 1);
    drainWith(1, () -> count("status = 'completed'") == 1);
    assertThat(count("attempts = 2 AND last_error = ''")).isEqualTo(1);
    assertThat(tuples()).isEqualTo(1);
  }

  @Test
  void aPermanentFailureFailsTheWork() {
    enqueue("fail-apollo", 1);
    drainWith(1, () -> count("status = 'failed'") == 1);
    assertThat(count("attempts = 3 AND last_error <> ''")).isEqualTo(1);
    assertThat(tuples()).isZero();
  }

  @Test
  void theWorkerCannotReadWhatUsersCreate() {
    try (Handle worker = Jdbi.open(database.worker())) {
      assertThatThrownBy(() -> worker.execute("SELECT * FROM tenant.projects"))
          .isInstanceOf(JdbiException.class)
          .hasMessageContaining("permission denied");
    }
  }

  @Test
  void aConnectionThatServesCallsSeesTheEntriesOfItsUserOnly() {
    enqueue("apollo", 2);
    UUID user =
        superuser.withHandle(
            handle ->
                handle
                    .createQuery("SELECT user_id FROM authz.outbox LIMIT 1")
                    .mapTo(UUID.class)
                    .one());
    assertThat(visibleTo("")).isZero();
    assertThat(visibleTo(user.toString())).isEqualTo(1);
    assertThat(visibleTo(UUID.randomUUID().toString())).isZero();
  }

  private static int visibleTo(String user) {
    return Jdbi.create(database.app())
        .inTransaction(
            handle -> {
              handle.execute("SELECT set_config('app.current_user_id', ?, true)", user);
              return handle
                  .createQuery("SELECT count(*) FROM authz.outbox")
                  .mapTo(Integer.class)
                  .one();
            });
  }

  private static void enqueue(String name, int count) {
    superuser.useHandle(
        handle ->
            handle.createUpdate(ENQUEUE_MANY).bind("name", name).bind("count", count).execute());
  }

  private static void drainWith(int workers, Callable<Boolean> done) {
    Jdbi worker = Jdbi.create(database.worker());
    List<Repeating> running =
        Stream.generate(() -> OutboxWorker.start(worker)).limit(workers).toList();
    try {
      await().until(done);
    } finally {
      running.forEach(Repeating::close);
    }
  }

  private static int count(String condition) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery("SELECT count(*) FROM authz.outbox WHERE <condition>")
                .define("condition", condition)
                .mapTo(Integer.class)
                .one());
  }

  private static int tuples() {
    return superuser.withHandle(
        handle ->
            handle.createQuery("SELECT count(*) FROM authz.tuples").mapTo(Integer.class).one());
  }
}
