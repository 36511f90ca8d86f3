package io.github.grpcidempotency.jooq;

import com.google.common.collect.MapMaker;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.github.grpcidempotency.postgres.ClaimTransaction;
import io.grpc.Context;
import java.sql.Connection;
import java.sql.Savepoint;
import java.util.Collections;
import java.util.Set;
import org.jooq.Configuration;
import org.jooq.ConnectionProvider;
import org.jooq.Transaction;
import org.jooq.TransactionContext;
import org.jooq.TransactionProvider;

/**
 * A jOOQ configuration that writes within the claim of a transactional call. A {@code DSLContext}
 * on this configuration uses the claim's connection within the handler of a transactional
 * procedure, and the host's own connections everywhere else. So one {@code DSLContext} serves both:
 *
 * <pre>{@code
 * DSLContext dsl = DSL.using(ClaimConfiguration.of(own));
 * }</pre>
 *
 * <p>Within a claim, {@code dsl.transaction(…)} is a savepoint: if it fails, its effects alone are
 * rolled back. The interceptor commits what remains together with the record of the answer.
 *
 * <p>The claim is looked up in the gRPC {@code Context}. Statements that jOOQ runs on its executor
 * ({@code executeAsync}) keep the context. A thread that a handler starts itself does not: without
 * {@code Context.wrap}, its writes are outside the claim. Statements over R2DBC are never within
 * the claim.
 *
 * <p>A host whose jOOQ uses Spring's transactions does not need this class, because the claim is
 * one of them. It works there too.
 */
public final class ClaimConfiguration {
  private ClaimConfiguration() {}

  /**
   * Derives a configuration that uses claims. It is thread-safe if the host's configuration is.
   *
   * @param host the host's configuration, which keeps its connections and transactions for all work
   *     outside a claim
   */
  public static Configuration of(Configuration host) {
    Configuration derived = host.derive();
    derived.set(new SavepointTransactions(host));
    derived.set(new ClaimConnections(host));
    derived.set(() -> Context.currentContextExecutor(host.executorProvider().provide()));
    return derived;
  }

  private static final class ClaimConnections implements ConnectionProvider {
    private final Configuration host;

    /** Compared by identity: a cursor may release a connection of a claim that has ended. */
    private final Set<Connection> claims =
        Collections.newSetFromMap(new MapMaker().weakKeys().makeMap());

    ClaimConnections(Configuration host) {
      this.host = host;
    }

    @Override
    public Connection acquire() {
      if (!CurrentOperation.hasTransaction()) {
        return host.connectionProvider().acquire();
      }
      Connection connection = ClaimTransaction.connection();
      claims.add(connection);
      return connection;
    }

    @Override
    public void release(Connection connection) {
      if (!claims.remove(connection)) {
        host.connectionProvider().release(connection);
      }
    }
  }

  /** Runs a transaction within a claim as a savepoint; any other transaction is the host's. */
  private static final class SavepointTransactions implements TransactionProvider {
    private final Configuration host;

    private record Nested(Savepoint savepoint) implements Transaction {}

    SavepointTransactions(Configuration host) {
      this.host = host;
    }

    @Override
    public void begin(TransactionContext context) {
      if (CurrentOperation.hasTransaction()) {
        context.transaction(new Nested(context.dsl().connectionResult(Connection::setSavepoint)));
      } else {
        host.transactionProvider().begin(context);
      }
    }

    @Override
    public void commit(TransactionContext context) {
      if (context.transaction() instanceof Nested nested) {
        context.dsl().connection(connection -> connection.releaseSavepoint(nested.savepoint()));
      } else {
        host.transactionProvider().commit(context);
      }
    }

    @Override
    public void rollback(TransactionContext context) {
      if (context.transaction() instanceof Nested nested) {
        context
            .dsl()
            .connection(
                connection -> {
                  connection.rollback(nested.savepoint());
                  connection.releaseSavepoint(nested.savepoint());
                });
      } else if (!CurrentOperation.hasTransaction()) {
        host.transactionProvider().rollback(context);
      }
    }
  }
}
