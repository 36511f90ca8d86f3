package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.common.base.Defaults;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Array;
import java.sql.Blob;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.copy.CopyIn;
import org.postgresql.core.BaseConnection;
import org.postgresql.jdbc.PgConnection;
import org.postgresql.largeobject.LargeObject;
import org.postgresql.largeobject.LargeObjectManager;

/** The connection of a handler, and everything that the connection returns. */
class HandlerConnectionTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  /** A handler may call these methods in a {@code finally} block after it has answered. */
  private static final Set<String> HARMLESS =
      Set.of("cancel", "close", "free", "isClosed", "equals", "hashCode", "toString");

  private final PostgresIdempotencyStore store =
      PostgresIdempotencyStore.builder(database.app()).build();
  private Claim claim;
  private Connection connection;

  @BeforeEach
  void claim() {
    claim =
        ((ClaimResult.Won)
                store.claimInTransaction(Things.claimOf(UUID.randomUUID(), Things.TRANSACTIONAL)))
            .claim();
    connection = Things.connectionOf(claim);
  }

  @AfterEach
  void close() {
    claim.close();
  }

  private void end() {
    assertThat(claim.release()).isEqualTo(Settled.DONE);
  }

  @Test
  void afterTheEndNoMethodReachesTheDriver() throws Exception {
    Statement statement = connection.createStatement();
    ResultSet row = statement.executeQuery("SELECT ARRAY[1]");
    assertThat(row.next()).isTrue();
    BaseConnection driver = connection.unwrap(BaseConnection.class);
    List<Object> objects =
        List.of(
            connection,
            statement,
            connection.prepareStatement("SELECT 1"),
            connection.prepareCall("SELECT 1"),
            connection.getMetaData(),
            connection.getMetaData().getTables(null, "app", "%", null),
            connection.setSavepoint(),
            row,
            row.getMetaData(),
            row.getArray(1),
            row.getArray(1).getResultSet(),
            row.getStatement(),
            driver,
            driver.getQueryExecutor(),
            driver.getTypeInfo());
    end();

    List<String> passed = new ArrayList<>();
    for (Object object : objects) {
      for (Class<?> type : object.getClass().getInterfaces()) {
        for (Method method : type.getMethods()) {
          if (!HARMLESS.contains(method.getName()) && !hasEnded(object, method)) {
            passed.add(type.getSimpleName() + "." + method.getName());
          }
        }
      }
    }
    assertThat(passed).isEmpty();
    assertThat(row.isClosed()).isTrue();
    statement.close();
    statement.cancel();
  }

  private static boolean hasEnded(Object object, Method method) throws IllegalAccessException {
    Object[] nothing = Stream.of(method.getParameterTypes()).map(Defaults::defaultValue).toArray();
    try {
      Object unused = method.invoke(object, nothing);
      return false;
    } catch (InvocationTargetException thrown) {
      return String.valueOf(thrown.getCause()).contains("the transaction of this call has ended");
    }
  }

  @Test
  void afterTheEndTheDriversOwnToolsFail() throws Exception {
    PGConnection driver = connection.unwrap(PGConnection.class);
    LargeObjectManager objects = driver.getLargeObjectAPI();
    LargeObject open = objects.open(objects.createLO());
    InputStream stream = blob(objects.createLO()).getBinaryStream();
    end();

    assertEnded(() -> open.read(1));
    assertEnded(() -> open.write(new byte[1]));
    assertEnded(objects::createLO);
    assertEnded(stream::read);
    assertEnded(() -> driver.getCopyAPI().copyOut("COPY app.notes TO STDOUT", new StringWriter()));
  }

  private interface Use {
    void run() throws Exception;
  }

  private static void assertEnded(Use use) {
    assertThatThrownBy(use::run).hasStackTraceContaining("the transaction of this call has ended");
  }

  private Blob blob(long id) throws SQLException {
    ResultSet row =
        connection.createStatement().executeQuery("SELECT CAST(%d AS oid) AS id".formatted(id));
    assertThat(row.next()).isTrue();
    return row.getBlob("id");
  }

  @Test
  void theDriversObjectsWorkThroughTheGuard() throws Exception {
    PGConnection driver = connection.unwrap(PGConnection.class);
    Blob blob = blob(driver.getLargeObjectAPI().createLO());
    blob.setBytes(1, new byte[] {1, 2, 3});
    assertThat(blob.getBinaryStream().readAllBytes()).containsExactly(1, 2, 3);
    try (PreparedStatement statement = connection.prepareStatement("SELECT ?")) {
      Array given = connection.createArrayOf("int4", new Integer[] {1, 2});
      statement.setArray(1, given);
      ResultSet row = statement.executeQuery();
      assertThat(row.next()).isTrue();
      assertThat(row.getArray(1).getArray()).isEqualTo(new Integer[] {1, 2});
      assertThat(row.getStatement()).isSameAs(statement).isEqualTo(statement);
      assertThat(statement.getConnection()).isSameAs(connection);
      assertThat(statement.unwrap(PGStatement.class).getPrepareThreshold()).isPositive();
    }
    Savepoint savepoint = connection.setSavepoint();
    driver.getCopyAPI().copyIn("COPY app.notes (note) FROM STDIN", new StringReader("a\n"));
    connection.rollback(savepoint);
    connection.releaseSavepoint(savepoint);
    assertThat(driver.getCopyAPI().copyOut("COPY app.notes TO STDOUT", new StringWriter()))
        .isZero();
    assertThat(claim.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
  }

  @Test
  @Timeout(120)
  void aCopyThatTheHandlerDoesNotEndRollsBackAndHoldsNothingUp() throws Exception {
    CopyIn copy =
        connection
            .unwrap(PGConnection.class)
            .getCopyAPI()
            .copyIn("COPY app.notes (note) FROM STDIN");
    assertThat(copy.isActive()).isTrue();

    assertThatThrownBy(() -> claim.complete(Things.ANSWER))
        .isInstanceOf(TransactionMisuseException.class)
        .hasMessageContaining("COPY");
  }

  /** A class cannot stand in front of the driver's, as an interface can. */
  @Test
  void theConnectionDoesNotUnwrapToAClass() throws Exception {
    assertThat(connection.isWrapperFor(PGConnection.class)).isTrue();
    assertThat(connection.isWrapperFor(Connection.class)).isTrue();
    assertThat(connection.unwrap(Connection.class)).isSameAs(connection);
    assertThat(connection.isWrapperFor(PgConnection.class)).isFalse();
    assertThatThrownBy(() -> connection.unwrap(PgConnection.class))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("unwrap it to PGConnection");
    end();
  }

  @Test
  void theConnectionOfAClaimThatIsClosedWhileItsHandlerHasItIsReplaced() throws Exception {
    int backend = connection.unwrap(PGConnection.class).getBackendPID();

    claim.close();
    claim.close();

    assertThatThrownBy(() -> connection.createStatement()).isInstanceOf(SQLException.class);
    assertThat(claim.release()).isEqualTo(Settled.DONE);
    await()
        .until(
            () ->
                database.one(
                        Integer.class,
                        "SELECT count(*) FROM pg_stat_activity WHERE pid = ?",
                        backend)
                    == 0);
  }
}
