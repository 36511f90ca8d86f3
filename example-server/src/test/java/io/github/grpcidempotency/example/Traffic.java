package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getAddInstallMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateClusterMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateNodePoolMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Message;
import io.github.grpcidempotency.example.organization.v1.AddInstallRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What clients of all kinds do with a server: they create, repeat themselves, wait, and make
 * mistakes. Whatever becomes of a call, they go on.
 */
final class Traffic implements AutoCloseable {
  private final TestClient client;
  private final Metadata ada = user(UUID.randomUUID());
  private final Random random = new Random(7);
  private final ScheduledExecutorService clock = Executors.newScheduledThreadPool(1);
  private final ExecutorService clients = Executors.newCachedThreadPool();
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final String project;
  private final String cluster;
  private final ApiKeys apiKeys;
  private final UUID apiKey = UuidCreator.getTimeOrderedEpoch();
  private final UUID poison = UuidCreator.getTimeOrderedEpoch();

  Traffic(TestClient client) {
    this.client = client;
    this.project = ApiKeys.newProject(client, ada);
    this.cluster =
        client
            .call(fresh(), getCreateClusterMethod(), clusterIn("moon"))
            .response()
            .getCluster()
            .getId();
    this.apiKeys = new ApiKeys(client, ada, project);
    apiKeys.create("ci", apiKey);
  }

  /** Returns how many calls were answered since the start. */
  long answered() {
    return answered.get();
  }

  /** Returns how many calls failed or were refused since the start. */
  long failed() {
    return failed.get();
  }

  void start() {
    every(150, this::createAProject);
    every(400, this::createANodePool);
    every(600, this::createWithoutAKey);
    every(900, this::install);
    every(1_100, this::reuseAKey);
    every(1_700, this::sendAMalformedKey);
    every(1_300, this::repeatWhileItRuns);
    every(1_000, () -> attempt(() -> apiKeys.create("ci", apiKey))); // its answer is a secret
  }

  private void every(long millis, Runnable action) {
    ScheduledFuture<?> unused =
        clock.scheduleAtFixedRate(() -> clients.execute(action), 0, millis, TimeUnit.MILLISECONDS);
  }

  private void createAProject() {
    Metadata keyed = fresh();
    attempt(keyed, getCreateProjectMethod(), project("apollo"));
    if (random.nextInt(3) == 0) { // the answer was lost
      attempt(keyed, getCreateProjectMethod(), project("apollo"));
    }
  }

  private void createANodePool() {
    Metadata keyed = fresh();
    CreateNodePoolRequest boosters =
        CreateNodePoolRequest.newBuilder()
            .setClusterId(cluster)
            .setName("boosters")
            .setNodeCount(3)
            .build();
    attempt(keyed, getCreateNodePoolMethod(), boosters);
    if (random.nextInt(4) == 0) {
      attempt(keyed, getCreateNodePoolMethod(), boosters);
    }
  }

  private void createWithoutAKey() {
    attempt(ada, getCreateProjectMethod(), project("gemini"));
  }

  /** A controller makes sure, again and again, that an install exists. */
  private void install() {
    AddInstallRequest install =
        AddInstallRequest.newBuilder()
            .setClusterId(cluster)
            .setName("guidance")
            .setVersion("11")
            .setInstallId(UUID.randomUUID().toString())
            .build();
    attempt(ada, getAddInstallMethod(), install);
    attempt(ada, getAddInstallMethod(), install);
  }

  private void reuseAKey() {
    Metadata keyed = fresh();
    attempt(keyed, getCreateProjectMethod(), project("mercury"));
    attempt(keyed, getCreateProjectMethod(), project("gemini"));
  }

  private void sendAMalformedKey() {
    attempt(keyed("no-uuid", ada), getCreateProjectMethod(), project("apollo"));
  }

  /** To buy a machine takes a while. */
  private void repeatWhileItRuns() {
    Metadata keyed = fresh();
    CreateClusterRequest request = clusterIn("moon-" + UUID.randomUUID());
    int duplicates = random.nextInt(4) + 1;
    for (int i = 0; i <= duplicates; i++) {
      clients.execute(() -> attempt(keyed, getCreateClusterMethod(), request));
    }
  }

  /** Sends a call for a machine that is not always sold. */
  void createACluster(UUID key, TestClient to) {
    CreateClusterRequest request = clusterIn("moon-base");
    clients.execute(
        () -> attempt(() -> to.call(keyed(key, ada), getCreateClusterMethod(), request)));
  }

  /** Sends a call that fails, with the same key as always. */
  void failAgain() {
    CreateClusterRequest request =
        clusterIn("moon").toBuilder().setProjectId(poison.toString()).build();
    attempt(keyed(poison, ada), getCreateClusterMethod(), request);
  }

  private Metadata fresh() {
    return keyed(UuidCreator.getTimeOrderedEpoch(), ada);
  }

  private static CreateProjectRequest project(String name) {
    return CreateProjectRequest.newBuilder().setName(name).build();
  }

  private CreateClusterRequest clusterIn(String region) {
    return CreateClusterRequest.newBuilder()
        .setProjectId(project)
        .setName("eagle")
        .setRegion(region)
        .build();
  }

  private <RequestT extends Message, ResponseT extends Message> void attempt(
      Metadata headers, MethodDescriptor<RequestT, ResponseT> method, RequestT request) {
    attempt(() -> client.call(headers, method, request));
  }

  private void attempt(Runnable call) {
    try {
      call.run();
      answered.incrementAndGet();
    } catch (StatusRuntimeException refused) {
      // some are to be refused, and others come while the database is away
      failed.incrementAndGet();
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
    clients.shutdownNow();
  }
}
