package io.github.grpcidempotency.torture;

import static io.github.grpcidempotency.grpc.IdempotencyMetadata.KEY;

import com.google.rpc.Code;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.Effect;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * A server JVM: the arguments are its name, the JDBC URL and the lease in milliseconds. Prints its
 * port once it serves, and ends with whoever started it.
 */
final class TortureServer {
  static final Metadata.Key<String> USER =
      Metadata.Key.of("user", Metadata.ASCII_STRING_MARSHALLER);
  static final Context.Key<Scope> SCOPE = Context.key("scope");

  static final int POOL_SIZE = 10;
  static final Duration RETENTION = Duration.ofHours(6);
  private static final Duration ATTACH = Duration.ofSeconds(2);

  /** Held, because loggers are collected with their level. */
  private static final Logger GRPC = Logger.getLogger("io.grpc");

  private TortureServer() {}

  @SuppressWarnings("SystemOut") // whoever started this process reads it
  public static void main(String[] arguments) throws IOException, InterruptedException {
    endWithParent();
    GRPC.setLevel(Level.OFF); // it logs every exception of a handler
    HikariDataSource pool = pool(arguments[1]);
    IdempotencyInterceptor interceptor =
        interceptor(pool, Duration.ofMillis(Long.parseLong(arguments[2])));
    ExpirySweeper unused =
        ExpirySweeper.builder(pool).interval(Duration.ofSeconds(1)).build().start();
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(new TortureService(arguments[0], pool))
            .intercept(interceptor)
            .intercept(new Authentication())
            .build()
            .start();
    System.out.println("port " + server.getPort());
    server.awaitTermination();
  }

  private static HikariDataSource pool(String jdbcUrl) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.addDataSourceProperty("socketTimeout", "4");
    config.addDataSourceProperty("connectTimeout", "4");
    config.setMaximumPoolSize(POOL_SIZE);
    config.setConnectionTimeout(2_000);
    config.setValidationTimeout(1_000);
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  @SuppressWarnings("SystemOut") // goes to the log beside the history
  private static IdempotencyInterceptor interceptor(HikariDataSource pool, Duration lease) {
    while (true) {
      try {
        return IdempotencyInterceptor.builder(
                procedures(),
                () -> Optional.ofNullable(SCOPE.get()).map(scope -> Caller.of(scope.user())))
            .store(PostgresIdempotencyStore.builder(pool).lease(lease).build())
            .build();
      } catch (StoreException databaseIsOut) {
        System.err.println("cannot start yet: " + databaseIsOut.getCause());
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
      }
    }
  }

  private static Procedures procedures() {
    return Procedures.of(
        Arrays.stream(Form.values()).map(TortureServer::procedure).toArray(Procedure[]::new));
  }

  private static Procedure procedure(Form form) {
    ProcedureBuilder<Effect> common =
        Procedure.of(form.method()).outage(OutagePolicy.FAIL_CLOSED).retention(RETENTION);
    return switch (form) {
      case RESERVED ->
          common.failures(FailurePolicy.releaseAll().withUnknown(Code.UNKNOWN)).build();
      case JOINED -> common.execution(Execution.RESERVED_SAME_DATABASE).build();
      case JOINED_ATTACHED ->
          common
              .execution(Execution.RESERVED_SAME_DATABASE)
              .inFlight(InFlightPolicy.attach(ATTACH))
              .build();
      case TRANSACTIONAL -> common.execution(Execution.TRANSACTIONAL).build();
      case TRANSACTIONAL_ATTACHED ->
          common.execution(Execution.TRANSACTIONAL).inFlight(InFlightPolicy.attach(ATTACH)).build();
    };
  }

  private static void endWithParent() {
    Thread watch =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {
                  // nobody says anything
                }
              } catch (IOException gone) {
                // with the parent
              }
              Runtime.getRuntime().halt(1);
            },
            "end-with-parent");
    watch.setDaemon(true);
    watch.start();
  }

  /** Believes what the client says of its user, and keeps the key for the handler to write. */
  private static final class Authentication implements ServerInterceptor {
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
      Scope scope = new Scope(UUID.fromString(user), key);
      return Contexts.interceptCall(Context.current().withValue(SCOPE, scope), call, headers, next);
    }
  }
}
