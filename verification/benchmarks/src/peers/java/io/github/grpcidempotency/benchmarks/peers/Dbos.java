package io.github.grpcidempotency.benchmarks.peers;

import com.zaxxer.hikari.HikariDataSource;
import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.context.WorkflowOptions;
import dev.dbos.transact.migrations.MigrationManager;
import dev.dbos.transact.txstep.JdbcStepFactory;
import dev.dbos.transact.workflow.Workflow;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.service.Peer;
import io.github.grpcidempotency.benchmarks.service.PeerHandler;
import io.github.grpcidempotency.benchmarks.service.PeerLibrary;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A workflow whose id is the key. It does not compare requests. */
public final class Dbos implements PeerLibrary {
  private static final String NAME = "benchmark";

  private static final Way WORKFLOW = new Way("dbos-workflow", "DBOS, workflow only");
  private static final Way STEP = new Way("dbos-step", "DBOS, workflow and step");
  private static final Way STEP_IN_COMMIT =
      new Way("dbos-step-in-commit", "DBOS, step in the handler's commit");

  @Override
  public List<Way> ways() {
    return List.of(WORKFLOW, STEP, STEP_IN_COMMIT);
  }

  @Override
  public Peer start(DurableDatabase database, DataSource pool, PeerHandler handler) {
    database
        .superuser()
        .useHandle(
            handle -> handle.execute("GRANT CREATE ON DATABASE benchmark TO benchmark_app"));
    // It needs more connections than the one or two that a pool may have.
    try (HikariDataSource owner = database.newPool(4, Duration.ZERO)) {
      MigrationManager.runMigrations(
          DBOSConfig.defaults(NAME).withDataSource(owner).withUseListenNotify(false));
    }
    return new Running(database, pool, handler);
  }

  /** The handler as workflows; public, as proxies are made of it. */
  public interface Workflows {
    /** Only the workflow is recorded: a crash runs the handler again. */
    String workflowOnly(String name) throws SQLException;

    /** The handler is a step, recorded after its commit. */
    String step(String name) throws SQLException;

    /** The handler is a step, recorded by its commit. */
    String stepInCommit(String name) throws SQLException;
  }

  private record RunBy(PeerHandler handler, DBOS dbos, JdbcStepFactory steps)
      implements Workflows {
    @Override
    @Workflow
    public String workflowOnly(String name) throws SQLException {
      return text(handler.alone(request(name)));
    }

    @Override
    @Workflow
    public String step(String name) throws SQLException {
      return dbos.<String, SQLException>runStep(
          () -> text(handler.alone(request(name))), "create");
    }

    @Override
    @Workflow
    public String stepInCommit(String name) throws SQLException {
      return steps.<String, SQLException>txStep(
              connection -> text(handler.on(connection, request(name))), "create");
    }

    private static CreateProjectRequest request(String name) {
      return CreateProjectRequest.newBuilder().setName(name).build();
    }

    private static String text(Project project) {
      return Base64.getEncoder().encodeToString(project.toByteArray());
    }
  }

  private static final class Running implements Peer {
    private final HikariDataSource listener;
    private final DBOS dbos;
    private final Workflows workflows;

    Running(DurableDatabase database, DataSource pool, PeerHandler handler) {
      this.listener = database.newPool(1, Duration.ZERO);
      this.dbos =
          new DBOS(
              DBOSConfig.defaults(NAME)
                  .withDataSource(besideListener(pool))
                  .withMigrate(false)
                  .withUseListenNotify(false));
      this.workflows =
          dbos.registerProxy(
              Workflows.class,
              new RunBy(
                  handler, dbos, new JdbcStepFactory(dbos, pool)));
      dbos.launch();
    }

    /** Its listener, which cannot be switched off, keeps no connection of the service's pool. */
    private DataSource besideListener(DataSource pool) {
      return new DelegatingDataSource(pool) {
        @Override
        public Connection getConnection() throws SQLException {
          return Thread.currentThread().getName().equals("NotificationListener")
              ? listener.getConnection()
              : super.getConnection();
        }
      };
    }

    @Override
    @SuppressWarnings("try") // the guard is only there to be closed
    public Project create(Way way, String key, CreateProjectRequest request) throws SQLException {
      String name = request.getName();
      try (WorkflowOptions.Guard unused = new WorkflowOptions(key).setContext()) {
        String created =
            way.equals(WORKFLOW)
                ? workflows.workflowOnly(name)
                : way.equals(STEP) ? workflows.step(name) : workflows.stepInCommit(name);
        return Answers.parse(Base64.getDecoder().decode(created));
      }
    }

    @Override
    public void close() {
      dbos.shutdown();
      listener.close();
    }
  }
}
