package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.detail;
import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getGetProjectMethod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Message;
import com.google.protobuf.util.Durations;
import com.google.rpc.RetryInfo;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.GetProjectRequest;
import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.run.MachineShop;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.fault.FaultProxy;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.util.Iterator;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

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

  private static final Database DATABASE = Databases.copy();
  private static final FaultProxy PROXY = FaultProxy.before(DATABASE.url());

  private static RunningExample example;

  private final Metadata ada = user(UUID.randomUUID());

  @BeforeAll
  static void startExample() {
    MachineShop shop = new MachineShop();
    Settings settings = RunningExample.settings(RunningExample.secrets(), shop);
    example = RunningExample.start(Database.at(PROXY.jdbcUrl()), shop, settings);
  }

  @AfterAll
  static void stopExample() {
    example.close();
    PROXY.close();
  }

  @Test
  void aCallWhoseConnectionIsCutIsRetriedAndDoneOnce() {
    Metadata keyed = keyed(UuidCreator.getTimeOrderedEpoch(), ada);
    CreateProjectRequest apollo = CreateProjectRequest.newBuilder().setName("apollo").build();
    assertThat(cutAt("tenant.projects", keyed, getCreateProjectMethod(), apollo).getTrailers())
        .satisfies(DatabaseOutageTest::asksForARetry);
    assertThat(example.client().call(keyed, getCreateProjectMethod(), apollo).isReplayed())
        .isFalse();
    assertThat(example.client().call(keyed, getCreateProjectMethod(), apollo).isReplayed())
        .isTrue();
  }

  @Test
  void aCallWithoutAKeyGetsARetryDelayAndItsClientDecides() {
    CreateProjectRequest apollo = CreateProjectRequest.newBuilder().setName("apollo").build();
    StatusRuntimeException refused =
        cutAt("tenant.projects", ada, getCreateProjectMethod(), apollo);
    assertThat(Objects.requireNonNull(refused.getTrailers()).get(PUSHBACK)).isNull();
  }

  @Test
  void theServerReportsThatTheDatabaseIsUnavailable() {
    Iterator<HealthCheckResponse> health =
        HealthGrpc.newBlockingStub(example.client().channel())
            .withDeadlineAfter(1, TimeUnit.MINUTES)
            .watch(HealthCheckRequest.getDefaultInstance());
    assertThat(health.next().getStatus()).isEqualTo(ServingStatus.SERVING);

    PROXY.refuse();
    assertThat(health.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
    assertUnavailable(
        catchThrowableOfType(
            StatusRuntimeException.class,
            () ->
                example
                    .client()
                    .call(
                        ada,
                        getGetProjectMethod(),
                        GetProjectRequest.newBuilder()
                            .setId(UUID.randomUUID().toString())
                            .build())));

    PROXY.restore();
    assertThat(health.next().getStatus()).isEqualTo(ServingStatus.SERVING);
    assertThat(ApiKeys.newProject(example.client(), ada)).isNotEmpty();
  }

  /** Ends the connection of a call that waits at a statement on a table. */
  private static <RequestT extends Message, ResponseT extends Message> StatusRuntimeException cutAt(
      String table,
      Metadata headers,
      MethodDescriptor<RequestT, ResponseT> method,
      RequestT request) {
    try (Handle superuser = Jdbi.open(DATABASE.superuser());
        Handle lock = Jdbi.open(DATABASE.superuser())) {
      lock.begin();
      // Only writers wait for it: the library's own statements look at the table as well.
      lock.execute("LOCK TABLE %s IN SHARE MODE".formatted(table));
      CompletableFuture<?> call =
          CompletableFuture.supplyAsync(() -> example.client().call(headers, method, request));
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
}
