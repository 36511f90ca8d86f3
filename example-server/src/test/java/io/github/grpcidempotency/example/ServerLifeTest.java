package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.TestClient.with;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateClusterMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getGetProjectMethod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.util.Durations;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.Cluster;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.GetProjectRequest;
import io.github.grpcidempotency.example.organization.v1.Project;
import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server as a process, with its embedded PostgreSQL, stopped in good ways and bad. */
class ServerLifeTest {
  private static final int SIGTERM_EXIT = 143;

  private static Path dataDirectory;

  /** One for all: each server finds what those before it have left, and only the first makes it. */
  @BeforeAll
  static void share(@TempDir Path directory) {
    dataDirectory = directory;
  }

  private final UUID user = UUID.randomUUID();
  private final Metadata keyed =
      with("idempotency-key", UuidCreator.getTimeOrderedEpoch().toString(), user(user));

  @Test
  void dataAndRecordedAnswersSurviveAKillAndTheNextServerStopsWhatItLeftBehind() {
    Project created;
    try (ProgramProcess server = startServer()) {
      int port = server.awaitPort();
      created = create(port).response().getProject();
      assertThat(createCluster(port, created.getId()).getMachine()).isNotEmpty();
      server.kill();
    }
    assertThat(dataDirectory.resolve("machines")).isNotEmptyDirectory();
    assertThat(postgresIsRunning()).isTrue();

    try (RunningExample server = startHere()) {
      int port = server.server().port();
      assertThat(get(port, created.getId())).isEqualTo(created);
      Reply<CreateProjectResponse> retried = create(port);
      assertThat(retried.isReplayed()).isTrue();
      assertThat(retried.response().getProject()).isEqualTo(created);
    }
    assertThat(postgresIsRunning()).isFalse();
  }

  @Test
  void aTerminatedServerStopsItsPostgresAndItsDataSurvives() {
    Project created;
    try (ProgramProcess server = startServer()) {
      created = create(server.awaitPort()).response().getProject();
      server.terminate();
      assertThat(server.awaitExit()).isEqualTo(SIGTERM_EXIT);
      assertThat(server.err()).isEmpty();
    }
    assertThat(postgresIsRunning()).isFalse();

    try (RunningExample server = startHere()) {
      assertThat(get(server.server().port(), created.getId())).isEqualTo(created);
    }
  }

  @Test
  void callsThatATerminatedServerDoesNotAnswerAreAnsweredByTheNextServer() throws Exception {
    CreateClusterRequest request;
    try (ProgramProcess server = startServer("--grace", "300ms", "--lease", "1s");
        TestClient client = new TestClient(server.awaitPort());
        Connection superuser = superuser()) {
      request =
          clusterIn(
              create(client, keyed(UuidCreator.getTimeOrderedEpoch(), user(user)))
                  .response()
                  .getProject()
                  .getId());
      superuser.setAutoCommit(false);
      superuser.createStatement().execute("LOCK TABLE tenant.clusters IN SHARE MODE");
      Future<StatusRuntimeException> running =
          failing(() -> client.call(keyed, getCreateClusterMethod(), request));
      String operation = awaitOperation(client);
      Future<StatusRuntimeException> duplicate =
          failing(() -> client.call(keyed, getCreateClusterMethod(), request));
      Future<StatusRuntimeException> recovering =
          failing(client, recover(keyed, Duration.ofMinutes(1)));
      Future<StatusRuntimeException> waiting =
          failing(
              () ->
                  client.call(
                      keyed,
                      OperationsGrpc.getWaitOperationMethod(),
                      WaitOperationRequest.newBuilder().setName(operation).build()));
      awaitWaiting(server, 3);

      server.terminate();

      for (Future<StatusRuntimeException> call : List.of(running, duplicate, recovering, waiting)) {
        assertCanBeSentAgain(call.get(20, TimeUnit.SECONDS));
      }
      assertThat(server.awaitExit()).isEqualTo(SIGTERM_EXIT);
    }
    try (RunningExample next = startHere()) {
      assertThat(
              next.client()
                  .call(keyed, getCreateClusterMethod(), request)
                  .response()
                  .getCluster()
                  .getName())
          .isEqualTo("eagle");
    }
  }

  @Test
  void aServerThatIsTerminatedWhileItStartsLeavesNoPostgresBehind() {
    try (ProgramProcess server = startServer()) {
      await().until(this::postgresIsRunning);
      server.terminate();
      server.awaitExit();
    }
    assertThat(postgresIsRunning()).isFalse();
  }

  private ProgramProcess startServer(String... options) {
    return ProgramProcess.start(
        Stream.concat(
                Stream.of("serve", "--port", "0", "--data-dir", dataDirectory.toString()),
                Stream.of(options))
            .toArray(String[]::new));
  }

  /** Connects to the database of a server in another process. */
  private static Connection superuser() throws IOException, SQLException {
    String port =
        Files.readAllLines(dataDirectory.resolve("postgres").resolve("postmaster.pid")).get(3);
    return DriverManager.getConnection(
        "jdbc:postgresql://localhost:" + port + "/example?user=postgres");
  }

  private Future<StatusRuntimeException> failing(TestClient client, RecoverRequest request) {
    return failing(() -> client.call(keyed, RecoveryGrpc.getRecoverMethod(), request));
  }

  private static Future<StatusRuntimeException> failing(ThrowingCallable call) {
    return CompletableFuture.supplyAsync(
        () -> catchThrowableOfType(StatusRuntimeException.class, call));
  }

  private static RecoverRequest recover(Metadata headers, Duration wait) {
    return RecoverRequest.newBuilder()
        .setMethod(getCreateClusterMethod().getFullMethodName())
        .setKey(Objects.requireNonNull(headers.get(IdempotencyMetadata.KEY)))
        .setWait(Durations.fromSeconds(wait.toSeconds()))
        .build();
  }

  /** Waits until the call runs, and returns its operation. */
  private String awaitOperation(TestClient client) {
    return await()
        .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
        .until(
            () ->
                client
                    .call(keyed, RecoveryGrpc.getRecoverMethod(), recover(keyed, Duration.ZERO))
                    .response()
                    .getOperation(),
            name -> !name.isEmpty());
  }

  private static void awaitWaiting(ProgramProcess server, int calls) {
    Pattern waiting = Pattern.compile("(?m)^idempotency_calls_waiting\\S* " + calls + "\\.0$");
    await().until(() -> waiting.matcher(server.metrics()).find());
  }

  /** The code, the pushback and the reason that every documented client sends again. */
  private static void assertCanBeSentAgain(StatusRuntimeException refused) {
    assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(TestClient.detail(refused, ErrorInfo.class).orElseThrow().getReason())
        .isEqualTo("IDEMPOTENCY_SHUTTING_DOWN");
    assertThat(TestClient.detail(refused, RetryInfo.class)).isPresent();
    assertThat(
            Objects.requireNonNull(refused.getTrailers())
                .get(Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER)))
        .matches("[0-9]+");
  }

  /** Starts the next server in this process, which is quicker. It need not be killed. */
  private static RunningExample startHere() {
    EmbeddedDatabase database = EmbeddedDatabase.start(dataDirectory);
    return RunningExample.start(RunningExample.settings(database), database);
  }

  private Reply<CreateProjectResponse> create(int port) {
    try (TestClient client = new TestClient(port)) {
      return create(client, keyed);
    }
  }

  private static Reply<CreateProjectResponse> create(TestClient client, Metadata headers) {
    return client.call(
        headers,
        getCreateProjectMethod(),
        CreateProjectRequest.newBuilder().setName("apollo").build());
  }

  private Cluster createCluster(int port, String projectId) {
    try (TestClient client = new TestClient(port)) {
      return client
          .call(
              keyed(UuidCreator.getTimeOrderedEpoch(), user(user)),
              getCreateClusterMethod(),
              clusterIn(projectId))
          .response()
          .getCluster();
    }
  }

  private static CreateClusterRequest clusterIn(String projectId) {
    return CreateClusterRequest.newBuilder()
        .setProjectId(projectId)
        .setName("eagle")
        .setRegion("moon-1")
        .build();
  }

  private Project get(int port, String id) {
    try (TestClient client = new TestClient(port)) {
      return client
          .call(user(user), getGetProjectMethod(), GetProjectRequest.newBuilder().setId(id).build())
          .response()
          .getProject();
    }
  }

  private boolean postgresIsRunning() {
    String directory = dataDirectory.resolve("postgres").toString();
    return ProcessHandle.allProcesses()
        .anyMatch(
            process ->
                process
                    .info()
                    .arguments()
                    .map(arguments -> Arrays.asList(arguments).contains(directory))
                    .orElse(false));
  }
}
