package io.github.grpcidempotency.benchmarks.peers;

import com.google.common.base.Throwables;
import com.transferwise.idempotence4j.core.ActionId;
import com.transferwise.idempotence4j.core.DefaultIdempotenceService;
import com.transferwise.idempotence4j.core.IdempotenceService;
import com.transferwise.idempotence4j.core.ResultSerializer;
import com.transferwise.idempotence4j.postgres.JdbcPostgresActionRepository;
import com.transferwise.idempotence4j.postgres.JdbcPostgresLockProvider;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.service.Peer;
import io.github.grpcidempotency.benchmarks.service.PeerHandler;
import io.github.grpcidempotency.benchmarks.service.PeerLibrary;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import java.lang.reflect.Type;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** The handler runs in its transaction. It does not compare requests. */
public final class Idempotence4j implements PeerLibrary {
  private static final String SCRIPTS = "db/idempotence4j/postgres/";

  @Override
  public List<Way> ways() {
    return List.of(new Way("idempotence4j", "idempotence4j"));
  }

  @Override
  public Peer start(DurableDatabase database, DataSource pool, PeerHandler handler) {
    Scripts.run(
        database,
        "idempotent_action",
        List.of(
            SCRIPTS + "V20200610120500__add_idempotent_action.sql",
            SCRIPTS + "V20200914150000__add_idempotent_action_index.sql"));
    return new Running(pool, handler);
  }

  private static final class Running implements Peer {
    private final DataSource pool;
    private final IdempotenceService service;
    private final PeerHandler handler;

    Running(DataSource pool, PeerHandler handler) {
      this.pool = pool;
      this.service =
          new DefaultIdempotenceService(
              new JdbcTransactionManager(pool),
              new JdbcPostgresLockProvider(new JdbcTemplate(pool)),
              new JdbcPostgresActionRepository(new JdbcTemplate(pool)),
              new ProjectSerializer(),
              metrics -> {});
      this.handler = handler;
    }

    @Override
    public Project create(Way way, String key, CreateProjectRequest request) throws SQLException {
      try {
        return service.execute(
            new ActionId(key, "CreateProject", "benchmark"),
            () -> inItsTransaction(request),
            Project.class);
      } catch (RuntimeException failure) {
        Throwables.throwIfInstanceOf(
            Throwables.getRootCause(failure), SQLException.class);
        throw failure;
      }
    }

    private Project inItsTransaction(CreateProjectRequest request) {
      Connection connection = DataSourceUtils.getConnection(pool);
      try {
        return handler.on(connection, request);
      } catch (SQLException failure) {
        throw new IllegalStateException(failure);
      } finally {
        DataSourceUtils.releaseConnection(connection, pool);
      }
    }

    @Override
    public void close() {}
  }

  /** Stores the answer's bytes rather than JSON. */
  private static final class ProjectSerializer implements ResultSerializer {
    @Override
    public <T> byte[] serialize(T result) {
      return ((Project) result).toByteArray();
    }

    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // its interface's
    public <T> T deserialize(byte[] payload, Type type) {
      return (T) Answers.parse(payload);
    }

    @Override
    public String getType() {
      return "protobuf";
    }
  }
}
