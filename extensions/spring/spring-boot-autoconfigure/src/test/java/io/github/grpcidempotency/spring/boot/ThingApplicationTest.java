package io.github.grpcidempotency.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Empty;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingService;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.grpc.server.lifecycle.GrpcServerTerminatedEvent;
import org.springframework.grpc.server.security.GrpcSecurity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;

/** A whole application over a socket, with a database, Flyway and Spring Security. */
class ThingApplicationTest {
  private static final CreateThingRequest THING =
      CreateThingRequest.newBuilder().setName("a thing").build();

  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("boot_owner", "boot_app").create();

  private static ConfigurableApplicationContext application;
  private static Things things;

  @BeforeAll
  static void start() {
    application =
        newApplication(
                "grpc.idempotency.services.recovery=true",
                "grpc.idempotency.services.operations=true")
            .run();
    things = application.getBean(Things.class);
  }

  @AfterAll
  static void stop() {
    application.close();
  }

  private static SpringApplicationBuilder newApplication(String... properties) {
    return new SpringApplicationBuilder(ThingApplication.class)
        .web(WebApplicationType.NONE)
        .bannerMode(Banner.Mode.OFF)
        .initializers(
            context ->
                TestPropertyValues.of("spring.grpc.server.port=0", "spring.datasource.url=" + url())
                    .and(properties)
                    .applyTo(context));
  }

  /** Without the user's name, which is a property of its own. */
  private static String url() {
    String url = database.jdbcUrl("boot_app");
    return url.substring(0, url.indexOf('?'));
  }

  @Test
  void aRetryOfAnAnnotatedMethodGetsTheFirstAnswer() {
    try (ThingClient alice = client("alice")) {
      int before = things.runs();
      ThingClient.Reply first = alice.createThing(THING);
      ThingClient.Reply retry = alice.createThing(THING);

      assertThat(first.status()).isEqualTo(Status.OK);
      assertThat(retry.bytes()).isEqualTo(first.bytes());
      assertThat(retry.trailers().get(IdempotencyMetadata.STATUS))
          .as("the handler makes no row, so its status is not known")
          .isNull();
      assertThat(things.runs()).isEqualTo(before + 1);
    }
  }

  @Test
  void whatATransactionalHandlerWritesThroughSpringIsCommittedWithItsRecord() {
    try (ThingClient alice = client("alice")) {
      int before = things.runs();
      ThingClient.Reply first = alice.createOther(THING);
      ThingClient.Reply retry = alice.createOther(THING);

      assertThat(first.status()).isEqualTo(Status.OK);
      assertThat(retry.bytes()).isEqualTo(first.bytes());
      assertThat(things.runs()).isEqualTo(before + 1);
      assertThat(
              count(
                  """
                  SELECT count(*)
                    FROM app.things
                    JOIN idempotency.idempotency_keys AS keys
                      ON keys.thing_id = things.id
                     AND keys.xmin = things.xmin
                   WHERE keys.idempotency_key = ?
                  """,
                  alice.key()))
          .isOne();
    }
  }

  @Test
  void theStatusToWhichAnExceptionIsMappedIsRecorded() {
    things.handleDeletes(
        (id, answer) -> {
          throw new IllegalStateException("it is in use");
        });
    try (ThingClient alice = client("alice")) {
      int before = things.runs();
      UUID id = UUID.randomUUID();
      ThingClient.Reply first = alice.deleteThing(id);
      ThingClient.Reply retry = alice.deleteThing(id);

      assertThat(first.status().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
      assertThat(first.status().getDescription()).isEqualTo("it is in use");
      assertThat(retry.status().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
      assertThat(retry.status().getDescription()).isEqualTo("it is in use");
      assertThat(things.runs()).isEqualTo(before + 1);
    }
  }

  @Test
  void theCallerIsWhomSpringSecurityHasAuthenticated() {
    try (ThingClient alice = client("alice");
        ThingClient bob = client(ThingApplication.BOB.toString())) {
      alice.createThing(THING);
      bob.withKey(alice.key()).createThing(THING);

      assertThat(records(alice))
          .containsExactlyInAnyOrder(Caller.ofSubject("alice").userId(), ThingApplication.BOB);
    }
  }

  @Test
  void aCallThatIsNotAuthenticatedDoesNotReachIt() {
    try (ThingClient nobody = client("nobody")) {
      assertThat(nobody.createThing(THING).status().getCode())
          .isEqualTo(Status.Code.UNAUTHENTICATED);
      assertThat(records(nobody)).isEmpty();
    }
  }

  @Test
  void aCallThatWaitedStillHasItsAuthentication() throws Exception {
    List<Authentication> seen = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = Collections.synchronizedList(new ArrayList<>());
    things.keepDeletesRunning();
    try (ThingClient alice = client("alice")) {
      UUID id = UUID.randomUUID();
      CompletableFuture<ThingClient.Reply> first = alice.startDeletion(id.toString());
      StreamObserver<Empty> running = things.nextRunning();
      things.handleDeletes(
          (deleted, answer) -> {
            threads.add(Thread.currentThread());
            seen.add(SecurityContextHolder.getContext().getAuthentication());
            seen.add(GrpcSecurity.SECURITY_CONTEXT_KEY.get().getAuthentication());
            ThingService.answer(answer);
          });
      CompletableFuture<ThingClient.Reply> second = alice.startDeletion(id.toString());
      await().until(() -> application.getBean(Waiting.class).calls() == 1);
      running.onError(Status.UNAVAILABLE.asRuntimeException());

      assertThat(first.join().status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(second.join().status()).isEqualTo(Status.OK);
      assertThat(threads).singleElement().matches(thread -> thread.getName().startsWith("idem"));
      assertThat(seen).extracting(Authentication::getName).containsExactly("alice", "alice");
    }
  }

  @Test
  void theLibrarysOwnServicesAreBehindTheSameSecurity() {
    RecoverRequest unknown =
        RecoverRequest.newBuilder()
            .setMethod("idempotency.testing.v1.ThingService/CreateThing")
            .setKey(UUID.randomUUID().toString())
            .build();
    assertThat(recover("nobody", unknown)).isEqualTo(Status.Code.UNAUTHENTICATED);
    assertThat(recover("alice", unknown)).isEqualTo(Status.Code.NOT_FOUND);
  }

  private static Status.Code recover(String user, RecoverRequest request) {
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), basic(user));
    try (ThingClient client = client(user)) {
      RecoveryGrpc.RecoveryBlockingStub stub =
          RecoveryGrpc.newBlockingStub(client.channel())
              .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
      return Status.fromThrowable(catchThrowable(() -> stub.recover(request))).getCode();
    }
  }

  @Test
  void itsMigrationRunsAsItsOwnRoleBeforeThoseOfTheApplication() {
    assertThat(
            new JdbcTemplate(database.superuser())
                .queryForObject(
                    "SELECT tableowner FROM pg_tables WHERE tablename = 'idempotency_keys'",
                    String.class))
        .isEqualTo("boot_owner");
    assertThat(application.getBeanFactory().getDependentBeans("idempotencySchemaMigration"))
        .contains("flyway", "idempotencyInterceptor");
  }

  @Test
  void theMigrationMakesTheIndexOfOperationsThatAreServed() {
    assertThat(
            new JdbcTemplate(database.superuser())
                .queryForList(
                    "SELECT indexname FROM pg_indexes WHERE tablename = 'idempotency_keys'",
                    String.class))
        .contains("idempotency_keys_operations");
  }

  @Test
  void anIsolationThatAMethodCannotHaveIsRefusedAtItsFirstCall() {
    Strict strict = application.getBean(Strict.class);
    List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
    things.writeThrough(
        new JdbcTemplate(application.getBean(DataSource.class)) {
          @Override
          public int update(String sql, @Nullable Object @Nullable ... values) {
            thrown.add(catchThrowable(strict::serializable));
            return super.update(sql, values);
          }
        });
    try (ThingClient alice = client("alice")) {
      assertThat(alice.createOther(THING).status().getCode()).isEqualTo(Status.Code.INTERNAL);
      assertThat(thrown)
          .singleElement(InstanceOfAssertFactories.THROWABLE)
          .hasMessageStartingWith("Strict.serializable: its @Transactional has an isolation");
    } finally {
      things.writeThrough(application.getBean(JdbcTemplate.class));
    }
  }

  @Test
  void itIsHealthyWhileItsStoreAnswers() {
    Health health =
        application.getBean("idempotencyHealthContributor", HealthIndicator.class).health(true);

    assertThat(health).isNotNull();
    assertThat(health.getStatus().getCode()).isEqualTo("UP");
    assertThat(health.getDetails().get("procedures"))
        .asString()
        .contains("ThingService/CreateThing", "CreateOther", "DeleteThing");
    assertThat(health.toString()).doesNotContain("boot_app", "jdbc");
  }

  @Test
  void aUrlThatConnectsAsTheApplicationStopsTheStart() {
    assertThatThrownBy(
            () ->
                newApplication("grpc.idempotency.migration.url=" + database.jdbcUrl("boot_app"))
                    .run())
        .hasRootCauseInstanceOf(SetupException.class)
        .rootCause()
        .hasMessageContaining("the URL connects as boot_app");
  }

  /** The application sweeps, too, and its interceptor is closed after its server. */
  @Test
  void callsThatAnApplicationDoesNotAnswerBeforeItStopsCanBeSentAgain() throws Exception {
    List<String> ends = Collections.synchronizedList(new ArrayList<>());
    Sweeps sweeps = new Sweeps(ends);
    try (ConfigurableApplicationContext stopping =
            newApplication(
                    "spring.grpc.server.shutdown.grace-period=200ms",
                    "grpc.idempotency.sweeper.interval=20ms")
                .initializers(
                    context -> {
                      context.getBeanFactory().registerSingleton("sweeps", sweeps);
                      context.addApplicationListener(
                          (ApplicationListener<GrpcServerTerminatedEvent>)
                              terminated -> ends.add("the server"));
                    })
                .run();
        ThingClient alice = client(stopping, "alice")) {
      await().until(() -> sweeps.count > 0);
      Things itsThings = stopping.getBean(Things.class);
      itsThings.keepDeletesRunning();
      String id = UUID.randomUUID().toString();
      CompletableFuture<ThingClient.Reply> running = alice.startDeletion(id);
      itsThings.nextRunning();
      CompletableFuture<ThingClient.Reply> waiting = alice.startDeletion(id);
      await().until(() -> stopping.getBean(Waiting.class).calls() == 1);

      stopping.stop();

      for (CompletableFuture<ThingClient.Reply> call : List.of(waiting, running)) {
        assertThat(call.join().status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(call.join().reason()).isEqualTo("IDEMPOTENCY_SHUTTING_DOWN");
        assertThat(call.join().retryAfter()).isPresent();
      }
      stopping.start();
      try (ThingClient again = client(stopping, "alice")) {
        assertThat(again.createThing(THING).status()).isEqualTo(Status.OK);
      }
      ends.clear();
    }
    assertThat(ends).containsExactly("the server", "the interceptor");
  }

  private static final class Sweeps implements IdempotencyListener {
    private final List<String> ends;
    private volatile int count;

    Sweeps(List<String> ends) {
      this.ends = ends;
    }

    @Override
    public void onEvent(IdempotencyEvent event) {
      if (event.kind() == IdempotencyEvent.Kind.SWEPT) {
        count = 1;
      }
    }

    @Override
    public void stopped(LiveCounts counts) {
      ends.add("the interceptor");
    }
  }

  private static int count(String query, String value) {
    Integer count =
        new JdbcTemplate(database.superuser()).queryForObject(query, Integer.class, value);
    return count == null ? 0 : count;
  }

  /** Returns the users who have a record under a client's key. */
  private static List<UUID> records(ThingClient client) {
    return new JdbcTemplate(database.superuser())
        .queryForList(
            "SELECT user_uuid FROM idempotency.idempotency_keys WHERE idempotency_key = ?",
            UUID.class,
            client.key());
  }

  private static ThingClient client(String user) {
    return client(application, user);
  }

  private static ThingClient client(ConfigurableApplicationContext application, String user) {
    return ThingClient.on(
            NettyChannelBuilder.forAddress(
                    "localhost", application.getBean(GrpcServerLifecycle.class).getPort())
                .usePlaintext()
                .build())
        .with("authorization", basic(user));
  }

  private static String basic(String user) {
    return "Basic "
        + Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
  }
}
