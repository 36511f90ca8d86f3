package io.github.grpcidempotency.client.intents;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.proto.Experimental;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;

/**
 * Stores intents with their requests durably, until an {@link IntentWorker} has processed them. The
 * table is in the client service's own PostgreSQL. An intent can be written in the transaction of
 * the decision, so that either both exist or neither does.
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
 * <p>A row is deleted after the callback has handled its answer. Requests and answers are not
 * encrypted in the table. Ages and leases are computed from the clock of the database.
 *
 * <p>Methods that are not public throw an {@link IllegalStateException} for every failure, and can
 * be called again. Thread-safe.
 */
@Experimental
public final class IntentStore {
  private final DataSource pool;

  private IntentStore(DataSource pool) {
    this.pool = pool;
  }

  /**
   * Returns the store in a PostgreSQL database. The migration {@code
   * io/github/grpcidempotency/client/intents/migration/V1__intents.sql} in this jar creates the
   * table, and lists the grants that the service's role needs.
   */
  public static IntentStore postgres(DataSource pool) {
    return new IntentStore(pool);
  }

  /**
   * Writes a new intent in a transaction of the caller. The caller commits it.
   *
   * @param target the name of the server, as it is registered with the {@link IntentWorker}
   * @return the intent, whose text is its key
   * @throws SQLException if the intent cannot be written; the transaction must be rolled back
   * @throws IllegalArgumentException if the method is not unary, or its call would carry no key
   */
  public <RequestT> Intent write(
      Connection transaction, String target, MethodDescriptor<RequestT, ?> method, RequestT request)
      throws SQLException {
    Intent intent = Intent.create();
    write(transaction, intent, target, method, request);
    return intent;
  }

  /**
   * Writes an existing intent in a transaction of the caller. An intent that is already in the
   * table is not changed. An intent that is done is no longer in the table. If you write such an
   * intent again, it is sent again, and the server runs it again if the record of the key has
   * expired. Therefore record the decision in the same transaction, for example with a primary key
   * that prevents a second decision. The outcome that the callback receives covers only the
   * worker's attempts.
   *
   * @throws SQLException if the intent cannot be written; the transaction must be rolled back
   * @throws IllegalArgumentException if the method is not unary, or its call would carry no key
   */
  public <RequestT> void write(
      Connection transaction,
      Intent intent,
      String target,
      MethodDescriptor<RequestT, ?> method,
      RequestT request)
      throws SQLException {
    intent.requireKey(method, request);
    Route route = Route.of(target, method);
    try (PreparedStatement insert = transaction.prepareStatement(IntentSql.WRITE)) {
      insert.setString(1, intent.toString());
      insert.setString(2, route.target());
      insert.setString(3, route.method());
      insert.setBytes(4, bytes(method, request).toByteArray());
      insert.executeUpdate();
    }
  }

  /**
   * Takes intents that are due, for the time of a lease, during which no other worker takes them.
   * From then on they count as sent.
   *
   * @param shares how many intents to take at most of each target
   */
  List<StoredIntent> take(Set<Route> routes, Map<String, Integer> shares, Duration lease) {
    return run(
        IntentSql.take(routes.size(), shares.size()),
        take -> {
          int next = 1;
          for (Map.Entry<String, Integer> share : shares.entrySet()) {
            take.setString(next++, share.getKey());
            take.setInt(next++, share.getValue());
          }
          next = setRoutes(take, next, routes);
          take.setLong(next, lease.toMillis());
          return read(take, IntentStore::intent);
        });
  }

  /** Restarts the leases of intents that are still being processed. */
  void renew(Collection<StoredIntent> taken, Duration lease) {
    run(
        IntentSql.RENEW,
        renew -> {
          for (StoredIntent held : taken) {
            renew.setLong(1, lease.toMillis());
            setOwned(renew, 2, held);
            renew.addBatch();
          }
          return renew.executeBatch();
        });
  }

  /**
   * Gives an intent back, so that a worker takes it again after a delay. Then it does not belong to
   * this worker any more, and a renewal that is under way does not change its time.
   *
   * @param neverSent whether it is certain that the intent was never sent
   */
  void postpone(StoredIntent taken, Duration delay, boolean neverSent) {
    run(
        IntentSql.POSTPONE,
        postpone -> {
          postpone.setLong(1, delay.toMillis());
          postpone.setBoolean(2, neverSent);
          setOwned(postpone, 3, taken);
          return postpone.executeUpdate();
        });
  }

  /**
   * Stores an answer until the callback has accepted it.
   *
   * @return whether the intent still belongs to this worker
   */
  boolean answered(StoredIntent taken, ByteString answer, Duration lease) {
    return run(
            IntentSql.ANSWERED,
            answered -> {
              answered.setLong(1, lease.toMillis());
              answered.setBytes(2, answer.toByteArray());
              setOwned(answered, 3, taken);
              return answered.executeUpdate();
            })
        == 1;
  }

  /** Deletes an intent whose answer the callback has accepted. */
  void done(StoredIntent taken) {
    run(
        IntentSql.DONE,
        done -> {
          setOwned(done, 1, taken);
          return done.executeUpdate();
        });
  }

  /**
   * Returns whether there are intents for these routes, including those that other workers have
   * taken.
   */
  boolean hasAny(Set<Route> routes) {
    return run(
        IntentSql.any(routes.size()),
        any -> {
          setRoutes(any, 1, routes);
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

  /** Sets the routes, and returns the number of the next parameter. */
  private static int setRoutes(PreparedStatement statement, int first, Set<Route> routes)
      throws SQLException {
    int next = first;
    for (Route route : routes) {
      statement.setString(next++, route.target());
      statement.setString(next++, route.method());
    }
    return next;
  }

  private static void setOwned(PreparedStatement statement, int first, StoredIntent taken)
      throws SQLException {
    statement.setString(first, taken.intent().toString());
    statement.setLong(first + 1, taken.fence());
  }

  private static <R> List<R> read(PreparedStatement query, Row<R> row) throws SQLException {
    List<R> all = new ArrayList<>();
    try (ResultSet rows = query.executeQuery()) {
      while (rows.next()) {
        all.add(row.read(rows));
      }
    }
    return all;
  }

  /**
   * Runs one statement in a separate transaction, independent of the autocommit setting of the
   * connection.
   */
  private <R> R run(String statement, Work<R> work) {
    try (Connection connection = pool.getConnection();
        PreparedStatement prepared = connection.prepareStatement(statement)) {
      R result = work.run(prepared);
      if (!connection.getAutoCommit()) {
        connection.commit();
      }
      return result;
    } catch (SQLException failure) {
      throw new IllegalStateException(
          "the database of the intents failed: " + failure.getMessage(), failure);
    }
  }

  private static <RequestT> ByteString bytes(
      MethodDescriptor<RequestT, ?> method, RequestT request) {
    try (InputStream bytes = method.streamRequest(request)) {
      return ByteString.readFrom(bytes);
    } catch (IOException impossible) {
      throw new IllegalStateException("the request cannot be serialized", impossible);
    }
  }

  private interface Work<R> {
    R run(PreparedStatement statement) throws SQLException;
  }

  private interface Row<R> {
    R read(ResultSet row) throws SQLException;
  }
}
