package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.resource.IdempotencyStatus.COMPLETED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.google.longrunning.OperationsGrpc;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.test.MistakeTable;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.GrpcCleanupExtension;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.flywaydb.core.Flyway;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The mistakes of a new user: each test makes the mistake of one row of the page. */
class MistakesTest {
  private static final MistakeTable TABLE = MistakeTable.under("In plain gRPC");
  @RegisterExtension static final PostgresFixture database = TestDatabase.fixture();
  @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension();

  private static final Metadata.Key<String> USER_HEADER =
      Metadata.Key.of("user", Metadata.ASCII_STRING_MARSHALLER);
  private static final Context.Key<UUID> USER = Context.key("user");
  private static final CreateThingRequest BOOK = Things.named("book");

  private final MistakeTable.Row mistake;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger runs = new AtomicInteger();

  MistakesTest(TestInfo test) {
    this.mistake = TABLE.of(test.getTestMethod().orElseThrow().getName());
  }

  @BeforeAll
  static void everyRowHasATest() {
    TABLE.assertTestedBy(MistakesTest.class);
  }

  @AfterEach
  void stopThreads() {
    threads.shutdownNow();
  }

  // In the migration, and at start-up.

  @Test
  void yourOwnMigrationRunsBeforeThatOfTheLibrary() {
    PostgresFixture empty = PostgresFixture.withRoles("things_owner", "things_app").create();
    Jdbi owner = Jdbi.create(grpc.registerCloseable(empty).owner());

    mistake.isFoundInTheMigration(
        message(
            () ->
                owner.useHandle(
                    handle -> handle.execute("SELECT idempotency.grant_to('things_app')"))));
  }

  @Test
  void yourFlywayUsesTheSchemaOfTheLibrary(@TempDir Path migrations) throws IOException {
    Files.writeString(migrations.resolve("V1__orders.sql"), "SELECT 1;");

    mistake.isFoundInTheMigration(
        message(
            () ->
                Flyway.configure()
                    .dataSource(database.owner())
                    .schemas(IdempotencySchema.DEFAULT_NAME)
                    .locations("filesystem:" + migrations)
                    .load()
                    .migrate()));
  }

  @Test
  void theRetentionIsShorterThanALease() {
    mistake.isFoundAtStartUp(
        problems(database.pool(), writing().retention(Duration.ofSeconds(10))));
  }

  @Test
  void theResourceTypeHasIdsOfAnotherTypeAndIsNotEnforced() {
    Jdbi owner = Jdbi.create(grpc.registerCloseable(TestDatabase.fixture()).owner());
    owner.useHandle(handle -> handle.execute("CREATE TABLE app.numbered (id numeric PRIMARY KEY)"));

    mistake.isFoundInTheMigration(
        message(
            () ->
                owner.useHandle(
                    handle ->
                        handle.execute(
                            "SELECT idempotency.add_resource_type("
                                + "'numbered', 'app.numbered', enforced => false)"))));
  }

  @Test
  void theProcedureHasNoExecution() {
    mistake.isFoundAtStartUp(
        problems(database.pool(), Procedure.of(ThingServiceGrpc.getCreateOtherMethod())));
  }

  @Test
  void anAnnotatedMethodIsLeftOut() {
    mistake.isFoundAtStartUp(
        problems(
            database.pool(),
            Procedure.of(ThingServiceGrpc.getCreateOtherMethod())
                .execution(Execution.TRANSACTIONAL)));
  }

  @Test
  void noMethodOfANamedServiceHasTheOption() {
    mistake.isFoundAtStartUp(
        message(
            () ->
                interceptor(
                    database.pool(),
                    Procedures.builder()
                        .addAnnotated(OperationsGrpc.getServiceDescriptor())
                        .build())));
  }

  @Test
  void noStoreIsNamed() {
    mistake.isFoundAtStartUp(
        message(
            () ->
                IdempotencyInterceptor.builder(Procedures.of(writing().build()), Optional::empty)
                    .build()));
  }

  @Test
  void theMigrationIsNotRun() {
    mistake.isFoundAtStartUp(problems(broken("DROP SCHEMA idempotency CASCADE"), writing()));
  }

  @Test
  void theGrantIsMissing() {
    mistake.isFoundAtStartUp(
        problems(
            broken("REVOKE UPDATE ON idempotency.idempotency_keys FROM things_app"), writing()));
  }

  @Test
  void theResourceTypeIsMisspelt() {
    mistake.isFoundAtStartUp(
        problems(database.pool(), writing().resource(ResourceType.of("thnig"), "id")));
  }

  @Test
  void thePoolLogsInAsTheOwner() {
    mistake.isFoundAtStartUp(problems(database.owner(), writing()));
  }

  @Test
  void thePoolLogsInAsASuperuser() {
    mistake.isFoundAtStartUp(problems(database.superuser(), writing()));
  }

  @Test
  void theRoleHasRightsThatOnlyTheOwnerNeeds() {
    mistake.isFoundAtStartUp(
        problems(broken("GRANT INSERT ON idempotency.idempotency_audit TO things_app"), writing()));
  }

  @Test
  void thePoolSwitchesAutocommitOff() {
    HikariConfig settings = new HikariConfig();
    settings.setJdbcUrl(database.jdbcUrl("things_app"));
    settings.setAutoCommit(false);
    HikariDataSource pool = grpc.registerCloseable(new HikariDataSource(settings));

    mistake.isFoundAtStartUp(problems(pool, writing().execution(Execution.TRANSACTIONAL)));
  }

  @Test
  void thePoolIsNotHikaricp() {
    DataSource another = database.as("things_app");
    DataSource hiding =
        (DataSource)
            Proxy.newProxyInstance(
                MistakesTest.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (self, method, arguments) ->
                    method.getName().equals("isWrapperFor")
                        ? false
                        : method.invoke(another, arguments));

    mistake.isFoundAtStartUp(problems(hiding, writing()));
  }

  @Test
  void theOutboxQueryNamesAMissingColumn() {
    mistake.isFoundAtStartUp(
        problems(
            database.pool(),
            writing()
                .status(
                    OutboxQuery.of("SELECT state FROM app.outbox WHERE thing_id = :resource_id")
                        .build())));
  }

  @Test
  void theMethodIsStreaming() {
    mistake.isFoundAtStartUp(
        problems(
            database.pool(),
            Procedure.of(ThingServiceGrpc.getCreateManyMethod())
                .execution(Execution.TRANSACTIONAL)));
  }

  // In the handler.

  @Test
  void aServiceWithAnnotatedMethodsIsNotNamed() {
    try (LogLines log = LogLines.listen()) {
      serve(
              ThingHandler::answer,
              new Authentication(),
              protect(database.pool(), Procedures.builder().build()))
          .createThing(BOOK);
      mistake.isFoundInTheLog(log.all());
    }
  }

  @Test
  void theInterceptorIsNotRegistered() {
    mistake.isFoundByTheHandler(
        thrownIn(
            handler -> serve(handler, new Authentication()),
            Runnable::run,
            request -> ClaimTransaction.connection()));
  }

  @Test
  void theHandlerWritesThroughAConnectionOfItsOwn() {
    ThingHandler handler =
        ThingHandler.creating(
            thing -> {
              Jdbi.create(database.pool())
                  .useTransaction(handle -> ThingHandlers.insert(handle, user(), thing));
            });

    mistake.isFoundInTheLog(logOf(writing(), handler));
  }

  @Test
  void theHandlerCommits() {
    mistake.isFoundByTheHandler(
        thrownAfterAnInsert(request -> ClaimTransaction.connection().commit()));
  }

  @Test
  void theHandlerRunsCommit() {
    mistake.isFoundByTheHandler(
        thrownAfterAnInsert(request -> ClaimJdbi.handle().execute("COMMIT")));
  }

  @Test
  void anAsynchronousHandlerLeavesTheContextBehind() {
    mistake.isFoundByTheHandler(
        thrownIn(
            handler -> serve(writing(), handler),
            threads,
            request -> ClaimTransaction.connection()));
  }

  private interface Mistake {
    void with(CreateThingRequest request) throws Exception;
  }

  private Throwable thrownAfterAnInsert(Mistake commit) {
    return thrownIn(
        handler -> serve(writing(), handler),
        Runnable::run,
        request -> {
          insert(ClaimTransaction.connection(), ThingHandler.newThing(request));
          commit.with(request);
        });
  }

  /** Returns the exception that a handler gets which makes a mistake on a thread. */
  private static Throwable thrownIn(
      Function<ThingHandler, ThingClient> server, Executor thread, Mistake mistake) {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    server
        .apply(
            (request, answer) ->
                thread.execute(
                    () -> {
                      thrown.complete(catchThrowable(() -> mistake.with(request)));
                      answer.onError(Status.INTERNAL.asRuntimeException());
                    }))
        .createThing(BOOK);
    return thrown.join();
  }

  @Test
  void theHandlerAnswersWithTheIdOfNoResource() {
    ThingHandler handler =
        (request, answer) -> {
          insert(ClaimTransaction.connection(), ThingHandler.newThing(request));
          ThingHandler.answer(request, answer);
        };

    ThingClient client = serve(writing(), handler);

    try (LogLines log = LogLines.listen()) {
      client.createThing(BOOK);
      mistake.isFoundInTheLog(log.all());
    }
  }

  @Test
  void theResourceIdIsMalformed() {
    mistake.isFoundInTheLog(
        logOf(reserved(), answering(Thing.newBuilder().setId("thing-1").build())));
  }

  @Test
  void theResourceIdIsEmpty() {
    mistake.isFoundInTheLog(logOf(reserved(), answering(Thing.getDefaultInstance())));
  }

  @Test
  @SuppressWarnings("NullAway") // the mistake
  void theStatusResolverReturnsNull() {
    mistake.isFoundInTheLog(logOf(writing().status(id -> null), writingHandler()));
  }

  @Test
  void theStatusResolverThrows() {
    ProcedureBuilder<Thing> throwing =
        writing()
            .status(
                id -> {
                  throw new IllegalStateException("no connection to the warehouse");
                });

    mistake.isFoundInTheLog(logOf(throwing, writingHandler()));
  }

  // Between interceptors.

  @Test
  void authenticationRunsInsideAndTheKeyIsRequired() {
    ThingClient client =
        serve(writingHandler(), protect(database.pool(), writing()), new Authentication());

    mistake.isFoundByTheClient(errorOf(client.createThing(BOOK)));
    assertThat(runs).hasValue(0);
  }

  @Test
  void authenticationRunsInsideAndTheKeyIsOptional() {
    ProcedureBuilder<Thing> optional = reserved().keyPolicy(KeyPolicy.OPTIONAL);
    ThingClient client =
        serve(ThingHandler::answer, protect(database.pool(), optional), new Authentication());

    try (LogLines log = LogLines.listen()) {
      client.createThing(BOOK);
      mistake.isFoundInTheLog(log.all());
    }
  }

  @Test
  void theCallerIsNotAuthenticated() {
    mistake.isFoundByTheClient(
        errorOf(serve(writing(), writingHandler()).withoutUser().withNewKey().createThing(BOOK)));
  }

  @Test
  void aCallArrivesInAnOutage() {
    FaultProxy proxy = grpc.registerCloseable(FaultProxy.before(database.jdbcUrl("things_app")));
    HikariDataSource pool = grpc.registerCloseable(PostgresThingServer.pool(proxy.jdbcUrl()));
    ThingClient client =
        serve(ThingHandler::answer, new Authentication(), protect(pool, reserved()));
    proxy.refuse();

    Reply reply =
        await()
            .until(
                () -> client.createThing(BOOK),
                answer -> answer.status().getCode() != Status.Code.ABORTED);

    mistake.isFoundByTheClient(errorOf(reply));
  }

  // In the client.

  @Test
  void theKeyIsMissing() {
    mistake.isFoundByTheClient(
        errorOf(serve(writing(), writingHandler()).withoutKey().createThing(BOOK)));
  }

  @Test
  void theClientSendsTwoKeys() {
    ThingClient client =
        serve(writing(), writingHandler())
            .with(IdempotencyMetadata.KEY.name(), UUID.randomUUID().toString());

    mistake.isFoundByTheClient(errorOf(client.createThing(BOOK)));
  }

  @Test
  void theKeyIsNotAUuid() {
    mistake.isFoundByTheClient(
        errorOf(serve(writing(), writingHandler()).withKey("order 17").createThing(BOOK)));
  }

  @Test
  void theKeyHas300Characters() {
    mistake.isFoundByTheClient(
        errorOf(serve(writing(), writingHandler()).withKey("k".repeat(300)).createThing(BOOK)));
  }

  @Test
  void theKeyIsUsedForAnotherRequest() {
    ThingClient client = serve(writing(), writingHandler());

    client.createThing(BOOK);

    mistake.isFoundByTheClient(errorOf(client.createThing(Things.named("pen"))));
  }

  @Test
  void theKeyIsUsedForAnotherMethod() {
    Procedure other =
        Procedure.of(ThingServiceGrpc.getCreateOtherMethod())
            .execution(Execution.TRANSACTIONAL)
            .build();
    ThingClient client =
        serve(
            writingHandler(),
            new Authentication(),
            protect(database.pool(), Procedures.of(writing().build(), other)));

    client.createThing(BOOK);

    mistake.isFoundByTheClient(errorOf(client.createOther(BOOK)));
  }

  // What a user writes.

  private static ProcedureBuilder<Thing> writing() {
    return Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
        .execution(Execution.TRANSACTIONAL)
        .keyPolicy(KeyPolicy.REQUIRED);
  }

  private static ProcedureBuilder<Thing> reserved() {
    return Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
        .execution(Execution.RESERVED)
        .keyPolicy(KeyPolicy.REQUIRED)
        .status(OutboxQuery.of(PostgresThingServer.OUTBOX_QUERY).map(COMPLETED, "done").build());
  }

  private static IdempotencyInterceptor interceptor(DataSource pool, Procedures procedures) {
    return IdempotencyInterceptor.builder(
            procedures, () -> Optional.ofNullable(USER.get()).map(Caller::of))
        .store(PostgresIdempotencyStore.builder(pool).build())
        .build();
  }

  private IdempotencyInterceptor protect(DataSource pool, ProcedureBuilder<?> procedure) {
    return protect(pool, Procedures.of(procedure.build()));
  }

  private IdempotencyInterceptor protect(DataSource pool, Procedures procedures) {
    return grpc.registerCloseable(interceptor(pool, procedures));
  }

  private ThingClient serve(ProcedureBuilder<?> procedure, ThingHandler handler) {
    return serve(handler, new Authentication(), protect(database.pool(), procedure));
  }

  private ThingClient serve(ThingHandler handler, ServerInterceptor... outermostFirst) {
    try {
      Server server =
          Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
              .addService(ServerInterceptors.interceptForward(service(handler), outermostFirst))
              .build();
      return grpc.registerCloseable(ThingClient.to(grpc.register(server.start()).getPort()));
    } catch (IOException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private ThingServiceGrpc.ThingServiceImplBase service(ThingHandler handler) {
    return new ThingServiceGrpc.ThingServiceImplBase() {
      @Override
      public void createThing(CreateThingRequest request, StreamObserver<Thing> answer) {
        runs.incrementAndGet();
        handler.create(request, answer);
      }

      @Override
      public void createOther(CreateThingRequest request, StreamObserver<Thing> answer) {
        createThing(request, answer);
      }
    };
  }

  private static final class Authentication implements ServerInterceptor {
    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      String user = headers.get(USER_HEADER);
      Context context =
          user == null
              ? Context.current()
              : Context.current().withValue(USER, UUID.fromString(user));
      return Contexts.interceptCall(context, call, headers, next);
    }
  }

  private static UUID user() {
    return USER.get();
  }

  private static UUID idOf(Thing thing) {
    return UUID.fromString(thing.getId());
  }

  private static ThingHandler writingHandler() {
    return (request, answer) ->
        ThingHandler.answer(
            answer, insert(ClaimTransaction.connection(), ThingHandler.newThing(request)));
  }

  private static ThingHandler answering(Thing thing) {
    return (request, answer) -> ThingHandler.answer(answer, thing);
  }

  private static Thing insert(Connection connection, Thing thing) {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO app.things (id, name) VALUES (?, ?)")) {
      insert.setObject(1, idOf(thing));
      insert.setString(2, thing.getName());
      insert.executeUpdate();
      return thing;
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  // What the user sees.

  private String problems(DataSource pool, ProcedureBuilder<?> procedure) {
    return message(() -> interceptor(pool, Procedures.of(procedure.build())));
  }

  private static String message(ThrowingCallable call) {
    return String.valueOf(catchThrowable(call).getMessage());
  }

  private DataSource broken(String statement) {
    PostgresFixture broken = grpc.registerCloseable(TestDatabase.fixture());
    Jdbi.create(broken.superuser()).useHandle(handle -> handle.execute(statement));
    return broken.pool();
  }

  private List<String> logOf(ProcedureBuilder<?> procedure, ThingHandler handler) {
    ThingClient client = serve(procedure, handler);
    try (LogLines log = LogLines.listen()) {
      assertThat(client.createThing(BOOK).isOk()).isTrue();
      client.createThing(BOOK);
      return log.all();
    }
  }

  private static String errorOf(Reply reply) {
    assertThat(reply.isOk()).as(reply.toString()).isFalse();
    return "%s %s: %s"
        .formatted(reply.status().getCode(), reply.reason(), reply.description())
        .replace(" :", ":");
  }
}
