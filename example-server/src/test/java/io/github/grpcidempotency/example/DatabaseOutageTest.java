package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.detail;
import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateNodePoolMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getImportMembersMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getListProjectsMethod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Message;
import com.google.protobuf.util.Durations;
import com.google.rpc.RetryInfo;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.ImportMembersRequest;
import io.github.grpcidempotency.example.organization.v1.ListProjectsRequest;
import io.github.grpcidempotency.example.organization.v1.MemberLine;
import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.run.database.HostDatabase;
import io.github.grpcidempotency.example.run.server.RunningServer;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Iterator;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** What clients get while the database is unavailable, or fails in the middle of their call. */
class DatabaseOutageTest {
  /** The connections of the application that wait for a lock on a table. */
  private static final String WAITING =
      """
      SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE NOT granted AND relation = :table::regclass AND usename = 'example_app'
      """;

  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);

  private static RestartableDatabase database;
  private static RunningServer server;
  private static TestClient client;

  private final Metadata ada = user(UUID.randomUUID());

  @BeforeAll
  static void startExample(@TempDir Path directory) {
    database = new RestartableDatabase(directory);
    server = RunningServer.start(0, RunningExample.settings(database.running), database);
    client = new TestClient(server.port());
  }

  @AfterAll
  static void stopExample() {
    client.close();
    server.close();
    database.close();
  }

  @Test
  void aCallWhoseConnectionIsCutIsRetriedAndDoneOnce() {
    Metadata keyed = keyed(UuidCreator.getTimeOrderedEpoch(), ada);
    CreateProjectRequest apollo = CreateProjectRequest.newBuilder().setName("apollo").build();
    assertThat(cutAt("tenant.projects", keyed, getCreateProjectMethod(), apollo).getTrailers())
        .satisfies(DatabaseOutageTest::asksForARetry);
    assertThat(client.call(keyed, getCreateProjectMethod(), apollo).isReplayed()).isFalse();
    assertThat(client.call(keyed, getCreateProjectMethod(), apollo).isReplayed()).isTrue();

    CreateNodePoolRequest boosters =
        CreateNodePoolRequest.newBuilder()
            .setClusterId(newCluster(ApiKeys.newProject(client, ada)))
            .setName("boosters")
            .setNodeCount(3)
            .build();
    Metadata other = keyed(UuidCreator.getTimeOrderedEpoch(), ada);
    assertThat(cutAt("tenant.node_pools", other, getCreateNodePoolMethod(), boosters).getTrailers())
        .satisfies(DatabaseOutageTest::asksForARetry);
    assertThat(client.call(other, getCreateNodePoolMethod(), boosters).isReplayed()).isFalse();
  }

  @Test
  void aCallWithoutAKeyGetsARetryDelayAndItsClientDecides() {
    CreateProjectRequest apollo = CreateProjectRequest.newBuilder().setName("apollo").build();
    for (StatusRuntimeException refused :
        new StatusRuntimeException[] {
          cutAt("tenant.projects", ada, getCreateProjectMethod(), apollo),
          cutAt(
              "tenant.projects",
              ada,
              getListProjectsMethod(),
              ListProjectsRequest.getDefaultInstance())
        }) {
      assertThat(Objects.requireNonNull(refused.getTrailers()).get(PUSHBACK)).isNull();
    }
  }

  @Test
  void anImportThatBreaksOffIsSentAgain() {
    ImportMembersRequest request =
        ImportMembersRequest.newBuilder()
            .setProjectId(ApiKeys.newProject(client, ada))
            .addLines(line("row-1"))
            .addLines(line("row-2"))
            .build();
    cutAt("tenant.project_members", ada, getImportMembersMethod(), request);
    assertThat(client.call(ada, getImportMembersMethod(), request).response().getLinesList())
        .allMatch(line -> line.hasMember());
  }

  @Test
  void theServerReportsThatTheDatabaseIsUnavailable() {
    Iterator<HealthCheckResponse> health =
        HealthGrpc.newBlockingStub(client.channel())
            .withDeadlineAfter(1, TimeUnit.MINUTES)
            .watch(HealthCheckRequest.getDefaultInstance());
    assertThat(health.next().getStatus()).isEqualTo(ServingStatus.SERVING);

    database.stop();
    assertThat(health.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
    assertUnavailable(
        catchThrowableOfType(
            StatusRuntimeException.class,
            () ->
                client.call(
                    ada, getListProjectsMethod(), ListProjectsRequest.getDefaultInstance())));

    database.start();
    assertThat(health.next().getStatus()).isEqualTo(ServingStatus.SERVING);
    assertThat(ApiKeys.newProject(client, ada)).isNotEmpty();
  }

  /** Ends the connection of a call that waits at a statement on a table. */
  private static <RequestT extends Message, ResponseT extends Message> StatusRuntimeException cutAt(
      String table,
      Metadata headers,
      MethodDescriptor<RequestT, ResponseT> method,
      RequestT request) {
    try (Handle superuser = Jdbi.open(database.running.superuser());
        Handle lock = Jdbi.open(database.running.superuser())) {
      lock.begin();
      // A writer only waits for this one: the library's own statements look at the table as well.
      String mode = method.isSafe() ? "ACCESS EXCLUSIVE" : "SHARE";
      lock.execute("LOCK TABLE %s IN %s MODE".formatted(table, mode));
      CompletableFuture<?> call =
          CompletableFuture.supplyAsync(() -> client.call(headers, method, request));
      String terminate =
          "SELECT count(pg_terminate_backend(pid)) FROM (" + WAITING + ") AS waiting";
      await()
          .until(
              () ->
                  superuser.createQuery(terminate).bind("table", table).mapTo(Integer.class).one()
                      > 0);
      Throwable failure = call.handle((answer, thrown) -> thrown).join();
      lock.rollback();
      assertThat(failure).hasCauseInstanceOf(StatusRuntimeException.class);
      StatusRuntimeException refused =
          (StatusRuntimeException) Objects.requireNonNull(failure.getCause());
      assertUnavailable(refused);
      return refused;
    }
  }

  private static void assertUnavailable(StatusRuntimeException refused) {
    assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(detail(refused, RetryInfo.class))
        .map(retry -> Durations.toMillis(retry.getRetryDelay()))
        .hasValueSatisfying(millis -> assertThat(millis).isPositive());
  }

  private static void asksForARetry(Metadata trailers) {
    assertThat(Long.parseLong(String.valueOf(trailers.get(PUSHBACK)))).isPositive();
  }

  private String newCluster(String projectId) {
    return client
        .call(
            keyed(UuidCreator.getTimeOrderedEpoch(), ada),
            ClusterServiceGrpc.getCreateClusterMethod(),
            CreateClusterRequest.newBuilder()
                .setProjectId(projectId)
                .setName("eagle")
                .setRegion("moon-1")
                .build())
        .response()
        .getCluster()
        .getId();
  }

  private static MemberLine line(String token) {
    return MemberLine.newBuilder()
        .setToken(token)
        .setUserId(UUID.randomUUID().toString())
        .setRole("specialist")
        .build();
  }

  /** A database that comes back on another port, without its server noticing. */
  private static final class RestartableDatabase implements HostDatabase {
    private final Path directory;
    private volatile EmbeddedDatabase running;

    RestartableDatabase(Path directory) {
      this.directory = directory;
      this.running = MigratedDatabase.startIn(directory);
    }

    void stop() {
      running.close();
    }

    void start() {
      running = EmbeddedDatabase.start(directory);
    }

    @Override
    public DataSource app() {
      return following(() -> running.app());
    }

    @Override
    public DataSource worker() {
      return following(() -> running.worker());
    }

    private static DataSource following(Supplier<DataSource> current) {
      return new PGSimpleDataSource() {
        @Override
        public Connection getConnection() throws SQLException {
          return current.get().getConnection();
        }
      };
    }

    @Override
    public void migrate() {
      running.migrate();
    }

    @Override
    public void close() {
      running.close();
    }
  }
}
