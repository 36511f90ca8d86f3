package io.github.grpcidempotency.torture;

import static io.github.grpcidempotency.grpc.IdempotencyMetadata.KEY;
import static io.github.grpcidempotency.grpc.IdempotencyMetadata.REPLAYED;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.rpc.Code;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.longrunning.LongRunningOperations;
import io.github.grpcidempotency.postgres.EvictReadOnly;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.testing.CheckedPool;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkResult;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * A server JVM. Its arguments are its name, the JDBC URL of its pool, the one that its handlers use
 * beside it, the lease in milliseconds, its {@link ServerLife} and its {@link ServerKind}. It
 * prints its port once it serves, or why it does not serve. When it is sent a line, it closes and
 * prints which calls were left. It ends with the process that started it.
 */
final class TortureServer {
  static final Metadata.Key<String> USER =
      Metadata.Key.of("user", Metadata.ASCII_STRING_MARSHALLER);
  static final Metadata.Key<String> TENANT =
      Metadata.Key.of("tenant", Metadata.ASCII_STRING_MARSHALLER);
  static final Metadata.Key<String> MANNER =
      Metadata.Key.of("manner", Metadata.ASCII_STRING_MARSHALLER);
  static final Metadata.Key<String> WITHOUT_RIGHT =
      Metadata.Key.of("without-right", Metadata.ASCII_STRING_MARSHALLER);

  static final Context.Key<Scope> SCOPE = Context.key("scope");

  /** Whether a handler of the call has run that was to claim at its commit. */
  static final Context.Key<AtomicBoolean> RAN_AT_COMMIT = Context.key("ran at commit");

  static final Context.Key<Manner> ASKED_MANNER = Context.keyWithDefault("manner", Manner.ORDINARY);

  /**
   * Retries that come again and again keep the key of a handler that never answers, up to this
   * limit. It is longer than the deadline of any call.
   */
  private static final Duration CALL_LIMIT = Duration.ofSeconds(10);

  private static final Context.Key<Boolean> RIGHT = Context.keyWithDefault("right", true);

  /** The type of the resource that a guarded method creates. */
  private static final ResourceType EFFECT = ResourceType.of("effect");

  static final String SERVES = "port ";
  static final String REFUSES = "refused ";
  static final String CLOSED = "closed ";
  static final int POOL_SIZE = 10;

  /**
   * A system property: whether the database fails over. The pool then gives up connections that
   * cannot write, and its attempts to connect last as long as it waits.
   */
  static final String FAILS_OVER = "torture.fails-over";

  static final Duration RETENTION = Duration.ofHours(6);

  private static final int MAX_TRIES = 50;
  private static final Duration ATTACH = Duration.ofSeconds(2);

  /** Kept in a field, because a logger that is collected loses its level. */
  private static final Logger GRPC = Logger.getLogger("io.grpc");

  private final ServerLife life;
  private final Duration lease;
  private final OpenCalls open = new OpenCalls();
  private final TortureService service;
  private final IdempotencyInterceptor interceptor;
  private final IdempotentWork work;
  private final Server server;

  private TortureServer(
      String name, String oneHost, String pastUrl, Duration lease, ServerLife life, ServerKind kind)
      throws IOException {
    this.life = life;
    this.lease = lease;
    String jdbcUrl = withHosts(oneHost);
    ServerKind.Host host =
        kind.start(name, jdbcUrl, life, () -> pool(jdbcUrl, life.number(Dimension.POOL_SIZE)));
    DataSource pool = host.pool();
    DataSource ofStore = DefectivePool.of(pool, life.number(Dimension.POOL_DEFECTS));
    CheckedPool own = pool(jdbcUrl, POOL_SIZE);
    DataSource connections = DefectivePool.of(own, life.number(Dimension.POOL_DEFECTS));
    PostgresIdempotencyStore store =
        startPatiently(() -> store(ofStore, connections, host.transactions()));
    this.interceptor = startPatiently(() -> interceptor(store));
    this.work = startPatiently(() -> IdempotentWork.builder(store, procedure(Form.JOB)).build());
    ExpirySweeper unused =
        ExpirySweeper.builder(store).interval(Duration.ofSeconds(1)).build().start();
    DataSource past = poolPast(pastUrl);
    new BatchesSent(store, past).start();
    if (pool instanceof CheckedPool checked) {
      new PoolFindings(name, checked, past).start();
    }
    new PoolFindings(name, own, past).start();
    this.service =
        new TortureService(
            name, host.transactions(), pool, past, this::job, lease, reservedIsTransactional());
    this.server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(service)
            .addService(startPatiently(() -> LongRunningOperations.of(interceptor)))
            .intercept(interceptor)
            .intercept(new Authentication(service::preempted))
            .intercept(open)
            .build()
            .start();
  }

  @SuppressWarnings("SystemOut") // whoever started this process reads it
  public static void main(String[] arguments) throws IOException {
    GRPC.setLevel(Level.OFF); // it logs every exception of a handler
    CountDownLatch closing = new CountDownLatch(1);
    listen(closing);
    try {
      TortureServer started =
          new TortureServer(
              arguments[0],
              arguments[1],
              arguments[2],
              Duration.ofMillis(Long.parseLong(arguments[3])),
              ServerLife.parse(arguments[4]),
              ServerKind.valueOf(arguments[5]));
      System.out.println(SERVES + started.server.getPort());
      Uninterruptibles.awaitUninterruptibly(closing);
      System.out.println(CLOSED + started.close());
    } catch (SetupException refused) {
      System.out.println(REFUSES + String.join("; ", refused.problems()));
    }
    Runtime.getRuntime().halt(1);
  }

  /** Closes when it gets a line, and ends with its parent. */
  private static void listen(CountDownLatch closing) {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {
                  closing.countDown();
                }
              } catch (IOException gone) {
                // with the parent
              }
              Runtime.getRuntime().halt(1);
            },
            "listen");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Closes the interceptor while calls are waiting, and returns how many then went on waiting, and
   * how many had not ended when every handler had.
   */
  private String close() {
    server.shutdown();
    pause(100);
    interceptor.close();
    work.close();
    long end = System.nanoTime() + lease.toNanos();
    while (open.count() > service.running() && System.nanoTime() < end) {
      pause(10);
    }
    int waiting = open.count() - service.running();
    // A handler that never answers takes three leases, and may have begun just before.
    end = System.nanoTime() + 3 * lease.toNanos();
    while (open.count() > 0 && System.nanoTime() < end) {
      pause(10);
    }
    return "waiting=%d left=%d".formatted(Math.max(0, waiting), open.count());
  }

  private boolean reservedIsTransactional() {
    return life.get(Dimension.EXECUTION).equals("transactional");
  }

  /** Adds hosts that are down, unless there are several hosts. */
  private String withHosts(String jdbcUrl) {
    String dead = ",127.0.0.1:1".repeat(life.number(Dimension.HOSTS) - 1);
    return Boolean.getBoolean(FAILS_OVER)
        ? jdbcUrl
        : jdbcUrl.replaceFirst("(//[^/]+)/", "$1" + dead + "/");
  }

  private CheckedPool pool(String jdbcUrl, int size) {
    HikariConfig config = new HikariConfig();
    if (Boolean.getBoolean(FAILS_OVER)) {
      config.setDataSource(patient(jdbcUrl));
    } else {
      config.setJdbcUrl(jdbcUrl);
      config.setDataSourceProperties(life.driverProperties());
    }
    config.setMaximumPoolSize(size);
    config.setConnectionTimeout(life.number(Dimension.CONNECTION_TIMEOUT));
    config.setValidationTimeout(Math.min(1_000, life.number(Dimension.CONNECTION_TIMEOUT)));
    config.setInitializationFailTimeout(-1);
    if (Boolean.getBoolean(FAILS_OVER)) {
      config.setExceptionOverrideClassName(EvictReadOnly.class.getName());
    }
    return new CheckedPool(config).checkUsers();
  }

  private RetryingDataSource patient(String jdbcUrl) {
    RetryingDataSource source = new RetryingDataSource();
    source.setUrl(jdbcUrl);
    life.driverProperties()
        .forEach(
            (name, value) -> {
              try {
                source.setProperty(name.toString(), value.toString());
              } catch (SQLException unknown) {
                throw new IllegalArgumentException(unknown);
              }
            });
    return source;
  }

  /** Another system from the library's point of view, to which the connection never breaks. */
  private static HikariDataSource poolPast(String jdbcUrl) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.addDataSourceProperty("options", "-c default_transaction_read_only=off");
    config.addDataSourceProperty("ApplicationName", TorturePostgres.PAST);
    config.setMaximumPoolSize(POOL_SIZE);
    config.setMinimumIdle(1);
    config.setConnectionTimeout(2_000);
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  /** A fault during the start may pass. A life that may be refused is refused soon. */
  @SuppressWarnings("SystemOut") // goes to the log beside the history
  private <T> T startPatiently(Supplier<T> start) {
    int tries = life.mayBeRefused() ? 3 : MAX_TRIES;
    while (true) {
      try {
        return start.get();
      } catch (SetupException refused) {
        System.err.println("cannot start so: " + refused.problems());
        tries--;
        if (tries == 0) {
          throw refused;
        }
        pause(200);
      } catch (StoreException | IllegalStateException databaseIsOut) {
        System.err.println("cannot start yet: " + databaseIsOut + ", " + databaseIsOut.getCause());
        pause(100);
      }
    }
  }

  private PostgresIdempotencyStore store(
      DataSource pool, DataSource connections, HandlerTransactions transactions) {
    PostgresIdempotencyStore.Builder store =
        PostgresIdempotencyStore.builder(pool).connections(connections).lease(lease);
    transactions.configure(store);
    return store.build();
  }

  private IdempotencyInterceptor interceptor(PostgresIdempotencyStore store) {
    return IdempotencyInterceptor.builder(
            procedures(), () -> Optional.ofNullable(SCOPE.get()).map(TortureServer::caller))
        .store(store)
        .listener(new FailingListener(life.number(Dimension.LISTENER_FAILURES)))
        .executor(executor(life.number(Dimension.REJECTIONS)))
        .callLimit(CALL_LIMIT)
        .build();
  }

  private WorkResult<Effect> job(Scope scope, EffectRequest request, Callable<Effect> job)
      throws Exception {
    return work.run(
        procedure(Form.JOB), caller(scope), scope.sent(), request, Effect.parser(), job);
  }

  private static Caller caller(Scope scope) {
    Caller caller = Caller.of(scope.user());
    return scope.tenant().isEmpty() ? caller : caller.inTenant(scope.tenant());
  }

  private static Executor executor(int rejectedPercent) {
    Executor threads = Executors.newCachedThreadPool();
    return task -> {
      if (ThreadLocalRandom.current().nextInt(100) < rejectedPercent) {
        throw new RejectedExecutionException("the executor is full");
      }
      threads.execute(task);
    };
  }

  private Procedures procedures() {
    return Procedures.of(
        Arrays.stream(Form.values())
            .filter(form -> form != Form.JOB)
            .map(this::procedure)
            .toArray(Procedure[]::new));
  }

  private Procedure procedure(Form form) {
    FailurePolicy failures = FailurePolicy.releaseAll().withTerminal(Code.FAILED_PRECONDITION);
    ProcedureBuilder<Effect> common =
        Procedure.of(form.method())
            .execution(Execution.RESERVED)
            .keyFormat(Optional::of)
            .outage(OutagePolicy.FAIL_CLOSED)
            .retention(RETENTION)
            .failures(failures);
    return switch (form) {
      case RESERVED ->
          reservedIsTransactional()
              ? failingResource(common).execution(Execution.TRANSACTIONAL).claimAtCommit().build()
              : failingResource(common).failures(failures.withUnknown(Code.UNKNOWN)).build();
      case FAIL_OPEN -> common.outage(OutagePolicy.FAIL_OPEN).retainFromLastReplay().build();
      case JOINED -> common.build();
      case JOINED_ATTACHED -> common.attach(ATTACH).build();
      case TRANSACTIONAL -> failingResource(common).execution(Execution.TRANSACTIONAL).build();
      case TRANSACTIONAL_ATTACHED ->
          common.execution(Execution.TRANSACTIONAL).attach(ATTACH).build();
      case JOB -> claimedByLife(common).build();
      case LATE -> common.execution(Execution.TRANSACTIONAL).claimAtCommit().build();
      case LATE_ATTACHED ->
          common.execution(Execution.TRANSACTIONAL).claimAtCommit().attach(ATTACH).build();
      case GUARDED -> guarded(common).build();
      case GUARDED_ATTACHED -> claimedByLife(guarded(common)).build();
    };
  }

  private ProcedureBuilder<Effect> claimedByLife(ProcedureBuilder<Effect> common) {
    ProcedureBuilder<Effect> attached = common.execution(Execution.TRANSACTIONAL).attach(ATTACH);
    return life.get(Dimension.CLAIM_TIMING).equals("AT_COMMIT")
        ? attached.claimAtCommit()
        : attached;
  }

  /** As after a rolling upgrade that has left a class behind. */
  private ProcedureBuilder<Effect> failingResource(ProcedureBuilder<Effect> common) {
    int percent = life.number(Dimension.RESOURCE_ERRORS);
    return percent == 0
        ? common
        : common.resource(
            EFFECT,
            effect -> {
              if (ThreadLocalRandom.current().nextInt(100) < percent) {
                throw new NoSuchMethodError("the resource's id");
              }
              return ResourceId.of(effect.getValue());
            });
  }

  /** Its guard reads the right of whoever asks from the gRPC Context. */
  private static ProcedureBuilder<Effect> guarded(ProcedureBuilder<Effect> common) {
    return common
        .resource(EFFECT, effect -> ResourceId.of(effect.getValue()))
        .guard((caller, effect) -> RIGHT.get() && effect.isPresent());
  }

  private static void pause(long millis) {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /** Believes what the client sends, and keeps the key for the handler to write. */
  private record Authentication(Runnable preempted) implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      String user = headers.get(USER);
      String key = headers.get(KEY);
      if (user == null || key == null) {
        return next.startCall(call, headers);
      }
      Scope scope =
          Scope.of(UUID.fromString(user), Optional.ofNullable(headers.get(TENANT)).orElse(""), key);
      AtomicBoolean ran = new AtomicBoolean();
      Context context =
          Context.current()
              .withValue(SCOPE, scope)
              .withValue(RAN_AT_COMMIT, ran)
              .withValue(RIGHT, !headers.containsKey(WITHOUT_RIGHT));
      String manner = headers.get(MANNER);
      return Contexts.interceptCall(
          manner == null ? context : context.withValue(ASKED_MANNER, Manner.valueOf(manner)),
          counting(call, ran),
          headers,
          next);
    }

    /** Counts an answer of another call, after the call's own handler has run. */
    private <RequestT, ResponseT> ServerCall<RequestT, ResponseT> counting(
        ServerCall<RequestT, ResponseT> call, AtomicBoolean ran) {
      return new SimpleForwardingServerCall<>(call) {
        @Override
        public void close(Status status, Metadata trailers) {
          super.close(status, trailers);
          if (ran.get() && "true".equals(trailers.get(REPLAYED))) {
            preempted.run();
          }
        }
      };
    }
  }
}
