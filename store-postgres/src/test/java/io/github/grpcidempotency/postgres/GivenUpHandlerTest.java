package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jdbi.v3.core.statement.PreparedBatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.PGConnection;

/** A handler that is given up while it waits for the database. */
class GivenUpHandlerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String INSERT = "INSERT INTO app.things (id, name) VALUES (?, ?)";
  private static final String FIRST_FLUSH = "BEGIN";

  /** The handler's first use of the database. */
  private enum FirstUse {
    UPDATE {
      @Override
      void run(Connection connection) throws SQLException {
        try (PreparedStatement insert = prepare(connection)) {
          insert.executeUpdate();
        }
      }
    },
    BATCH {
      @Override
      void run(Connection connection) throws SQLException {
        try (PreparedStatement insert = prepare(connection)) {
          insert.addBatch();
          insert.executeBatch();
        }
      }
    },
    FETCH_SIZE {
      @Override
      void run(Connection connection) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("SELECT 1")) {
          query.setFetchSize(10);
          query.executeQuery().close();
        }
      }
    },
    STREAM {
      @Override
      void run(Connection connection) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement("SELECT CAST(? AS bytea)")) {
          query.setBinaryStream(1, new ByteArrayInputStream(new byte[8]));
          query.executeQuery().close();
        }
      }
    },
    METADATA {
      @Override
      void run(Connection connection) throws SQLException {
        connection.getMetaData().getTables(null, "app", "%", null).close();
      }
    },
    STATEMENT {
      @Override
      void run(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
          statement.execute("SELECT 1");
        }
      }
    },
    SAVEPOINT {
      @Override
      void run(Connection connection) throws SQLException {
        connection.setSavepoint();
      }
    },
    COPY {
      @Override
      void run(Connection connection) throws Exception {
        connection
            .unwrap(PGConnection.class)
            .getCopyAPI()
            .copyIn("COPY app.notes (note) FROM STDIN", new StringReader("copied\n"));
      }
    },
    COPY_OUT {
      @Override
      void run(Connection connection) throws Exception {
        connection
            .unwrap(PGConnection.class)
            .getCopyAPI()
            .copyOut("COPY app.notes TO STDOUT", new StringWriter());
      }
    },
    LARGE_OBJECT {
      @Override
      void run(Connection connection) throws SQLException {
        connection.unwrap(PGConnection.class).getLargeObjectAPI().createLO();
      }
    },
    JDBI_BATCH {
      @Override
      void run(Connection connection) {
        PreparedBatch batch = ClaimJdbi.handle().prepareBatch(INSERT);
        batch.add(UUID.randomUUID(), "a thing").add(UUID.randomUUID(), "another").execute();
      }
    };

    abstract void run(Connection connection) throws Exception;

    static PreparedStatement prepare(Connection connection) throws SQLException {
      PreparedStatement insert = connection.prepareStatement(INSERT);
      insert.setObject(1, UUID.randomUUID());
      insert.setString(2, "a thing");
      return insert;
    }
  }

  private static final FaultProxy proxy = FaultProxy.before(database.appUrl());
  private static final HikariDataSource pool = PostgresThingServer.pool(proxy.jdbcUrl());
  private static final ThingServer server = server();

  @AfterAll
  static void stop() {
    server.close();
    pool.close();
    proxy.close();
  }

  @ParameterizedTest
  @EnumSource
  void leavesNothingToTheNextUserOfThePool(FirstUse first) throws Exception {
    BlockingQueue<Boolean> ended = new LinkedBlockingQueue<>();
    server.things().handle((request, answer) -> ended.add(succeeds(first)));
    ThingClient client = ThingClient.on(server.channel());
    client.withNewKey().createThing(Things.named("a thing")); // the first use loads classes
    boolean unused = ended.take();
    database.reset();
    FaultProxy.Trap slow = proxy.holdBefore(FIRST_FLUSH, Duration.ofMillis(700));

    Reply reply = client.createThing(Things.named("a thing"));
    assertThat(reply.status().getCode()).isEqualTo(Status.Code.INTERNAL);
    assertThat(slow.hasSprung()).isTrue();
    boolean unusedToo = ended.take();

    insertTwoNotes();
    assertThat(database.list(String.class, "SELECT note FROM app.notes"))
        .containsExactlyInAnyOrder("one", "two");
    assertThat(new KeyTable(database).thingsOf(client.user())).isEmpty();
    await().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
    await().until(() -> locks() == 0);
  }

  private static boolean succeeds(FirstUse first) {
    try {
      first.run(ClaimTransaction.connection());
      return true;
    } catch (Exception failure) {
      return false;
    }
  }

  private static ThingServer server() {
    ThingServer started =
        ThingServer.on(Transport.LOOPBACK)
            .store(
                PostgresIdempotencyStore.builder(pool)
                    .lease(Duration.ofMillis(150))
                    .listen(false)
                    .build())
            .createThing(thing -> thing.execution(Execution.TRANSACTIONAL).claimAtCommit())
            .settings(settings -> settings.callLimit(Duration.ofMillis(200)))
            .start();
    pool.setMaximumPoolSize(1);
    return started;
  }

  /** As a user of the pool does who has nothing to do with the library: in autocommit mode. */
  private static void insertTwoNotes() throws SQLException {
    for (String note : List.of("one", "two")) {
      try (Connection connection = pool.getConnection();
          PreparedStatement insert =
              connection.prepareStatement("INSERT INTO app.notes (note) VALUES (?)")) {
        insert.setString(1, note);
        assertThat(insert.executeUpdate()).isEqualTo(1);
      }
    }
  }

  private static int locks() {
    return database.one(
        Integer.class,
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database ="
            + " (SELECT oid FROM pg_database WHERE datname = current_database())");
  }
}
