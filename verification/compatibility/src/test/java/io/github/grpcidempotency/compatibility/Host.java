package io.github.grpcidempotency.compatibility;

import com.google.protobuf.Any;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.compatibility.v1.BookSeatRequest;
import io.github.grpcidempotency.compatibility.v1.PrintTicketRequest;
import io.github.grpcidempotency.compatibility.v1.Seat;
import io.github.grpcidempotency.compatibility.v1.SeatServiceGrpc;
import io.github.grpcidempotency.compatibility.v1.Ticket;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.longrunning.LongRunningOperations;
import io.github.grpcidempotency.postgres.ClaimTransaction;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A service that uses the library as the README says. */
final class Host implements AutoCloseable {
  private static final Caller CALLER = Caller.ofSubject("somebody");

  /** The same for every Flyway: the host's own migrations are not what is tried here. */
  private static final String HOST_MIGRATION =
      """
      CREATE TABLE public.seats (id uuid PRIMARY KEY, seat_row text NOT NULL);
      GRANT SELECT, INSERT ON public.seats TO seat_app;
      SELECT idempotency.add_resource_type('seat', 'public.seats', 'id');
      SELECT idempotency.add_operation_index();
      SELECT idempotency.grant_to('seat_app');
      """;

  private final DataSource owner;
  private final Seats seats;
  private final IdempotencyInterceptor idempotency;
  private final Server server;

  private Host(DataSource owner, Seats seats, IdempotencyInterceptor idempotency, Server server) {
    this.owner = owner;
    this.seats = seats;
    this.idempotency = idempotency;
    this.server = server;
  }

  static Host start(String url) throws IOException, SQLException {
    DataSource owner = as("seat_owner", url);
    IdempotencySchema.migrate(owner);
    try (Connection connection = owner.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(HOST_MIGRATION);
    }
    Procedures procedures =
        Procedures.builder()
            .addAnnotated(SeatServiceGrpc.getServiceDescriptor())
            .add(
                Procedure.annotated(SeatServiceGrpc.getPrintTicketMethod())
                    .failures(
                        FailurePolicy.releaseAll()
                            .withTerminal(Code.FAILED_PRECONDITION)
                            .withUnknown(Code.UNKNOWN))
                    .build())
            .build();
    IdempotencyInterceptor idempotency =
        IdempotencyInterceptor.builder(procedures, () -> Optional.of(CALLER))
            .store(PostgresIdempotencyStore.builder(as("seat_app", url)).build())
            .build();
    Seats seats = new Seats();
    Server server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(seats)
            .addService(idempotency.recovery())
            .addService(LongRunningOperations.of(idempotency))
            .intercept(idempotency)
            .build()
            .start();
    return new Host(owner, seats, idempotency, server);
  }

  int port() {
    return server.getPort();
  }

  /** Returns how many seats have been booked. */
  int seats() {
    try (Connection connection = owner.getConnection();
        Statement statement = connection.createStatement();
        ResultSet count = statement.executeQuery("SELECT count(*) FROM public.seats")) {
      count.next();
      return count.getInt(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns how often the printer was asked. */
  int tickets() {
    return seats.printed.get();
  }

  @Override
  public void close() {
    server.shutdownNow();
    idempotency.close();
  }

  private static DataSource as(String role, String url) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(url);
    source.setUser(role);
    source.setSocketTimeout(10);
    return source;
  }

  private static final class Seats extends SeatServiceGrpc.SeatServiceImplBase {
    private final AtomicInteger printed = new AtomicInteger();

    @Override
    public void bookSeat(BookSeatRequest request, StreamObserver<Seat> observer) {
      UUID id = UUID.randomUUID();
      try (PreparedStatement insert =
          ClaimTransaction.connection()
              .prepareStatement("INSERT INTO public.seats VALUES (?, ?)")) {
        insert.setObject(1, id);
        insert.setString(2, request.getRow());
        insert.executeUpdate();
      } catch (SQLException e) {
        observer.onError(Status.INTERNAL.withCause(e).asRuntimeException());
        return;
      }
      observer.onNext(Seat.newBuilder().setId(id.toString()).setRow(request.getRow()).build());
      observer.onCompleted();
    }

    @Override
    public void printTicket(PrintTicketRequest request, StreamObserver<Ticket> observer) {
      int number = printed.incrementAndGet();
      switch (request.getPrinter()) {
        case "no paper" ->
            observer.onError(
                StatusProto.toStatusRuntimeException(
                    com.google.rpc.Status.newBuilder()
                        .setCode(Code.FAILED_PRECONDITION_VALUE)
                        .addDetails(Any.pack(ErrorInfo.newBuilder().setReason("NO_PAPER").build()))
                        .build()));
        case "silent" -> observer.onError(Status.UNKNOWN.asRuntimeException());
        default -> {
          observer.onNext(Ticket.newBuilder().setNumber(number).build());
          observer.onCompleted();
        }
      }
    }
  }
}
