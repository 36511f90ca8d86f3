package io.github.grpcidempotency.conformance;

import com.google.rpc.Code;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.conformance.v1.ConformanceGrpc;
import io.github.grpcidempotency.conformance.v1.CountRequest;
import io.github.grpcidempotency.conformance.v1.CountResponse;
import io.github.grpcidempotency.conformance.v1.ReleaseRequest;
import io.github.grpcidempotency.conformance.v1.ReleaseResponse;
import io.github.grpcidempotency.conformance.v1.RunRequest;
import io.github.grpcidempotency.conformance.v1.RunResponse;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.ClaimTransaction;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** The service of the runner with the library, over PostgreSQL. */
final class ServerUnderTest implements AutoCloseable {
  /** How the library runs the handlers. */
  enum Form {
    RESERVED,
    /** Reserved, and duplicates wait. */
    ATTACHED,
    TRANSACTIONAL,
    /** Transactional, and duplicates wait. */
    TRANSACTIONAL_ATTACHED,
    /** Transactional, with a claim at the commit. */
    AT_COMMIT;

    private boolean isTransactional() {
      return this != RESERVED && this != ATTACHED;
    }

    private Procedure procedure(MethodDescriptor<RunRequest, RunResponse> method) {
      ProcedureBuilder<RunResponse> procedure = Procedure.annotated(method);
      if (!"RunProhibited".equals(method.getBareMethodName())) {
        procedure.execution(isTransactional() ? Execution.TRANSACTIONAL : Execution.RESERVED);
        if (this == ATTACHED || this == TRANSACTIONAL_ATTACHED) {
          procedure.attach(Duration.ofMinutes(1));
        }
        if (this == AT_COMMIT) {
          procedure.claimAtCommit();
        }
        if ("RunTerminal".equals(method.getBareMethodName())) {
          procedure.failures(FailurePolicy.releaseAll().withTerminal(Code.ALREADY_EXISTS));
        }
      } else if (isTransactional()) {
        procedure.execution(Execution.TRANSACTIONAL);
      }
      return procedure.build();
    }
  }

  private static final Context.Key<String> USER = Context.key("user");
  private static final Metadata.Key<String> HEADER =
      Metadata.Key.of("conformance-user", Metadata.ASCII_STRING_MARSHALLER);

  private final HikariDataSource pool;
  private final IdempotencyInterceptor interceptor;
  private final Server server;

  /**
   * Starts a server with records in PostgreSQL.
   *
   * @param outer sees each call before the library, and each answer after it
   */
  ServerUnderTest(HikariDataSource pool, Form form, ServerInterceptor outer) {
    this(pool, PostgresIdempotencyStore.builder(pool).build(), form, outer);
  }

  /** Starts a server with records in any store, and with effects in PostgreSQL. */
  ServerUnderTest(
      HikariDataSource pool, IdempotencyStore store, Form form, ServerInterceptor outer) {
    this.pool = pool;
    Procedures.Builder procedures = Procedures.builder();
    List.of(
            ConformanceGrpc.getRunMethod(),
            ConformanceGrpc.getRunOtherMethod(),
            ConformanceGrpc.getRunRequiredMethod(),
            ConformanceGrpc.getRunProhibitedMethod(),
            ConformanceGrpc.getRunTerminalMethod())
        .forEach(method -> procedures.add(form.procedure(method)));
    this.interceptor =
        IdempotencyInterceptor.builder(
                procedures.build(), () -> Optional.ofNullable(USER.get()).map(Caller::ofSubject))
            .store(store)
            .build();
    try {
      this.server =
          NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
              .addService(new Service(form.isTransactional()))
              .addService(interceptor.recovery())
              .intercept(interceptor)
              .intercept(new Users())
              .intercept(outer)
              .build()
              .start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the database of such servers. */
  static PostgresFixture database() {
    return PostgresFixture.withRoles("conformance_owner", "conformance_app")
        .migrate(IdempotencySchema::migrate)
        .migrate(
            owner -> {
              try (Connection connection = owner.getConnection();
                  Statement statement = connection.createStatement()) {
                statement.execute(
                    """
                    CREATE SCHEMA effects;
                    CREATE TABLE effects.effects (name text NOT NULL);
                    GRANT USAGE ON SCHEMA effects TO conformance_app;
                    GRANT SELECT, INSERT ON effects.effects TO conformance_app;
                    SELECT idempotency.grant_to('conformance_app');
                    """);
              } catch (SQLException failure) {
                throw new IllegalStateException(failure);
              }
            })
        .create();
  }

  String address() {
    return "localhost:" + server.getPort();
  }

  @Override
  public void close() {
    server.shutdownNow();
    interceptor.close();
  }

  private final class Service extends ConformanceGrpc.ConformanceImplBase {
    private final boolean transactional;
    private final Map<String, Handlers> handlers = new ConcurrentHashMap<>();

    Service(boolean transactional) {
      this.transactional = transactional;
    }

    /** What the handlers of a name have done. */
    private static final class Handlers {
      private final AtomicLong begun = new AtomicLong();
      private final CountDownLatch released = new CountDownLatch(1);
    }

    private Handlers of(String name) {
      return handlers.computeIfAbsent(name, added -> new Handlers());
    }

    @Override
    public void run(RunRequest request, StreamObserver<RunResponse> observer) {
      long run = of(request.getName()).begun.incrementAndGet();
      try {
        if (request.getHold()) {
          of(request.getName()).released.await();
        }
        if (request.getCode() != 0) {
          observer.onError(Status.fromCodeValue(request.getCode()).asRuntimeException());
          return;
        }
        if (transactional) {
          insert(ClaimTransaction.connection(), request.getName());
        } else {
          try (Connection connection = pool.getConnection()) {
            insert(connection, request.getName());
          }
        }
      } catch (SQLException | InterruptedException failure) {
        observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
        return;
      }
      observer.onNext(RunResponse.newBuilder().setText(request.getText()).setRun(run).build());
      observer.onCompleted();
    }

    @Override
    public void runOther(RunRequest request, StreamObserver<RunResponse> observer) {
      run(request, observer);
    }

    @Override
    public void runRequired(RunRequest request, StreamObserver<RunResponse> observer) {
      run(request, observer);
    }

    @Override
    public void runProhibited(RunRequest request, StreamObserver<RunResponse> observer) {
      run(request, observer);
    }

    @Override
    public void runTerminal(RunRequest request, StreamObserver<RunResponse> observer) {
      run(request, observer);
    }

    @Override
    public void release(ReleaseRequest request, StreamObserver<ReleaseResponse> observer) {
      of(request.getName()).released.countDown();
      observer.onNext(ReleaseResponse.getDefaultInstance());
      observer.onCompleted();
    }

    @Override
    public void count(CountRequest request, StreamObserver<CountResponse> observer) {
      try (Connection connection = pool.getConnection();
          PreparedStatement effects =
              connection.prepareStatement("SELECT count(*) FROM effects.effects WHERE name = ?")) {
        effects.setString(1, request.getName());
        try (ResultSet row = effects.executeQuery()) {
          row.next();
          observer.onNext(
              CountResponse.newBuilder()
                  .setBegun(of(request.getName()).begun.get())
                  .setEffects(row.getLong(1))
                  .build());
        }
      } catch (SQLException failure) {
        observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
        return;
      }
      observer.onCompleted();
    }

    private static void insert(Connection connection, String name) throws SQLException {
      try (PreparedStatement effect =
          connection.prepareStatement("INSERT INTO effects.effects (name) VALUES (?)")) {
        effect.setString(1, name);
        effect.executeUpdate();
      }
    }
  }

  private static final class Users implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      String user = headers.get(HEADER);
      return user == null
          ? next.startCall(call, headers)
          : Contexts.interceptCall(Context.current().withValue(USER, user), call, headers, next);
    }
  }
}
