package io.github.grpcidempotency.client;

import com.google.protobuf.ByteString;
import io.grpc.MethodDescriptor;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * Intents in the client service's own PostgreSQL. An intent is written in the transaction that
 * makes the decision, so that either both exist or neither does.
 *
 * <pre>{@code
 * try (Connection connection = pool.getConnection()) {
 *   connection.setAutoCommit(false);
 *   markAsOrdered(connection, cart); // the decision
 *   intents.write(connection, "orders", OrderServiceGrpc.getCreateOrderMethod(), request);
 *   connection.commit();
 * }
 * worker.wake();
 * }</pre>
 *
 * <p>The table is made by {@code io/github/grpcidempotency/client/migration/V1__intents.sql} in
 * this jar, which names the grants that the service's role needs. A row is deleted when its answer
 * was handed to the callback. Requests and answers are in the table in the clear.
 *
 * <p>Thread-safe.
 */
public final class PostgresIntentStore extends IntentStore {
  private static final String INSERT =
      """
      INSERT INTO idempotency_client.intents (key, target, method, request)
      VALUES (?, ?, ?, ?)
      ON CONFLICT (key) DO NOTHING
      """;

  private static final String TAKE =
      """
      WITH taken AS (
        SELECT key, first_sent
          FROM idempotency_client.intents
         WHERE due <= now()
           AND (target, method) IN (SELECT * FROM unnest(?, ?))
         ORDER BY due
         LIMIT ?
           FOR UPDATE SKIP LOCKED
      )
      UPDATE idempotency_client.intents AS intent
         SET due = now() + ? * interval '1 millisecond',
             attempts = attempts + 1,
             fence = fence + 1,
             first_sent = coalesce(intent.first_sent, now())
        FROM taken
       WHERE intent.key = taken.key
      RETURNING intent.key,
                target,
                method,
                request,
                attempts,
                taken.first_sent IS NOT NULL AS sent_before,
                (extract(epoch FROM now() - created) * 1000)::bigint AS age_ms,
                answer,
                fence
      """;

  private static final String RENEW =
      """
      UPDATE idempotency_client.intents AS intent
         SET due = now() + ? * interval '1 millisecond'
        FROM unnest(?, ?) AS held (key, fence)
       WHERE intent.key = held.key
         AND intent.fence = held.fence
      """;

  private static final String POSTPONE =
      """
      UPDATE idempotency_client.intents
         SET due = now() + ? * interval '1 millisecond',
             first_sent = CASE WHEN ? THEN NULL ELSE first_sent END
       WHERE key = ?
         AND fence = ?
      """;

  private static final String ANSWERED =
      """
      UPDATE idempotency_client.intents
         SET answer = ?,
             due = now() + ? * interval '1 millisecond'
       WHERE key = ?
         AND fence = ?
      """;

  private static final String DONE =
      """
      DELETE FROM idempotency_client.intents
       WHERE key = ?
         AND fence = ?
      """;

  private static final String ANY =
      """
      SELECT EXISTS (
        SELECT FROM idempotency_client.intents
         WHERE (target, method) IN (SELECT * FROM unnest(?, ?)))
      """;

  private final DataSource pool;

  private PostgresIntentStore(DataSource pool) {
    this.pool = pool;
  }

  /** Returns the store of a database; the pool is for workers only. */
  public static PostgresIntentStore on(DataSource pool) {
    return new PostgresIntentStore(pool);
  }

  /**
   * Writes a new intent in a transaction of the caller. The caller commits it.
   *
   * @param target the name under which the {@link IntentWorker} knows the server
   * @return the intent, whose text is its key
   * @throws SQLException if it cannot be written: the transaction should be rolled back
   * @throws IllegalArgumentException if the method is not unary, or prohibits keys
   */
  public <RequestT> Intent write(
      Connection transaction, String target, MethodDescriptor<RequestT, ?> method, RequestT request)
      throws SQLException {
    Intent intent = Intent.create();
    write(transaction, intent, target, method, request);
    return intent;
  }

  /**
   * Writes an intent that was made before. If the intent was already written, it stays as it is
   * until it is done and deleted, so a repeated decision adds nothing. The outcome that the
   * callback hears covers the worker's attempts only.
   *
   * @throws SQLException if it cannot be written: the transaction should be rolled back
   * @throws IllegalArgumentException if the method is not unary, or prohibits keys
   */
  public <RequestT> void write(
      Connection transaction,
      Intent intent,
      String target,
      MethodDescriptor<RequestT, ?> method,
      RequestT request)
      throws SQLException {
    Route route = route(target, method);
    try (PreparedStatement insert = transaction.prepareStatement(INSERT)) {
      insert.setString(1, intent.key());
      insert.setString(2, route.target());
      insert.setString(3, route.method());
      insert.setBytes(4, bytes(method, request).toByteArray());
      insert.executeUpdate();
    }
  }

  @Override
  List<StoredIntent> take(Set<Route> routes, int most, Duration lease) {
    return run(
        TAKE,
        take -> {
          setRoutes(take, routes);
          take.setInt(3, most);
          take.setLong(4, lease.toMillis());
          List<StoredIntent> taken = new ArrayList<>();
          try (ResultSet rows = take.executeQuery()) {
            while (rows.next()) {
              taken.add(intent(rows));
            }
          }
          return taken;
        });
  }

  @Override
  void renew(Collection<StoredIntent> taken, Duration lease) {
    int unused =
        run(
            RENEW,
            renew -> {
              renew.setLong(1, lease.toMillis());
              renew.setArray(2, array(renew, "text", taken, held -> held.intent().key()));
              renew.setArray(3, array(renew, "bigint", taken, StoredIntent::fence));
              return renew.executeUpdate();
            });
  }

  @Override
  void postpone(StoredIntent taken, Duration delay, boolean neverSent) {
    int unused =
        run(
            POSTPONE,
            postpone -> {
              postpone.setLong(1, delay.toMillis());
              postpone.setBoolean(2, neverSent);
              setOwned(postpone, 3, taken);
              return postpone.executeUpdate();
            });
  }

  @Override
  boolean answered(StoredIntent taken, ByteString answer, Duration lease) {
    return run(
            ANSWERED,
            answered -> {
              answered.setBytes(1, answer.toByteArray());
              answered.setLong(2, lease.toMillis());
              setOwned(answered, 3, taken);
              return answered.executeUpdate();
            })
        == 1;
  }

  @Override
  void done(StoredIntent taken) {
    int unused =
        run(
            DONE,
            done -> {
              setOwned(done, 1, taken);
              return done.executeUpdate();
            });
  }

  @Override
  boolean hasAny(Set<Route> routes) {
    return run(
        ANY,
        any -> {
          setRoutes(any, routes);
          try (ResultSet row = any.executeQuery()) {
            return row.next() && row.getBoolean(1);
          }
        });
  }

  private static StoredIntent intent(ResultSet row) throws SQLException {
    return new StoredIntent(
        Intent.parse(row.getString("key")),
        new Route(row.getString("target"), row.getString("method")),
        ByteString.copyFrom(row.getBytes("request")),
        row.getInt("attempts"),
        row.getBoolean("sent_before"),
        Duration.ofMillis(row.getLong("age_ms")),
        Optional.ofNullable(row.getBytes("answer")).map(ByteString::copyFrom),
        row.getLong("fence"));
  }

  private static void setRoutes(PreparedStatement statement, Set<Route> routes)
      throws SQLException {
    List<Route> ordered = List.copyOf(routes);
    statement.setArray(1, array(statement, "text", ordered, Route::target));
    statement.setArray(2, array(statement, "text", ordered, Route::method));
  }

  private static void setOwned(PreparedStatement statement, int first, StoredIntent taken)
      throws SQLException {
    statement.setString(first, taken.intent().key());
    statement.setLong(first + 1, taken.fence());
  }

  private static <E> Array array(
      PreparedStatement statement, String type, Collection<E> elements, Function<E, Object> value)
      throws SQLException {
    return statement.getConnection().createArrayOf(type, elements.stream().map(value).toArray());
  }

  /**
   * Runs one statement in a separate transaction, whatever the settings of the pool's connections.
   */
  private <R> R run(String sql, Work<R> work) {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      R result = work.run(statement);
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
      return result;
    } catch (SQLException failure) {
      throw new IllegalStateException("the intents' database: " + failure.getMessage(), failure);
    }
  }

  private interface Work<R> {
    R run(PreparedStatement statement) throws SQLException;
  }
}
