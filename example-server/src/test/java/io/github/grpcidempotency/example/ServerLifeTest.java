package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.TestClient.with;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateClusterMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getGetProjectMethod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.Cluster;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.GetProjectRequest;
import io.github.grpcidempotency.example.organization.v1.Project;
import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.grpc.Metadata;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.UUID;
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
  void aServerThatIsTerminatedWhileItStartsLeavesNoPostgresBehind() {
    try (ProgramProcess server = startServer()) {
      await().until(this::postgresIsRunning);
      server.terminate();
      server.awaitExit();
    }
    assertThat(postgresIsRunning()).isFalse();
  }

  private ProgramProcess startServer() {
    return ProgramProcess.start("serve", "--port", "0", "--data-dir", dataDirectory.toString());
  }

  /** Starts the next server in this process, which is quicker. It need not be killed. */
  private static RunningExample startHere() {
    EmbeddedDatabase database = EmbeddedDatabase.start(dataDirectory);
    return RunningExample.start(RunningExample.settings(database), database);
  }

  private Reply<CreateProjectResponse> create(int port) {
    try (TestClient client = new TestClient(port)) {
      return client.call(
          keyed,
          getCreateProjectMethod(),
          CreateProjectRequest.newBuilder().setName("apollo").build());
    }
  }

  private Cluster createCluster(int port, String projectId) {
    try (TestClient client = new TestClient(port)) {
      return client
          .call(
              keyed(UuidCreator.getTimeOrderedEpoch(), user(user)),
              getCreateClusterMethod(),
              CreateClusterRequest.newBuilder()
                  .setProjectId(projectId)
                  .setName("eagle")
                  .setRegion("moon-1")
                  .build())
          .response()
          .getCluster();
    }
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
