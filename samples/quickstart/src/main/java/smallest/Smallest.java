package smallest;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.grpc.*;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.*;
import io.github.grpcidempotency.procedure.Procedures;
import io.grpc.*;
import io.grpc.stub.*;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.*;
import java.time.Duration;
import java.util.*;
import javax.sql.DataSource;

/** One database, one server, and a client that sends a call twice. */
public final class Smallest {
  public static void main(String... args) throws Exception {
    EmbeddedPostgres postgres = // ends with this process
        EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1)).start();
    migrate(postgres.getPostgresDatabase());
    HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl(postgres.getJdbcUrl("app", "postgres"));
    pool.addDataSourceProperty("socketTimeout", "10"); // seconds; shorter than a lease

    IdempotencyInterceptor idempotency =
        IdempotencyInterceptor.builder(
                Procedures.builder().addAnnotated(OrdersGrpc.getServiceDescriptor()).build(),
                () -> Optional.of(Caller.ofSubject("alice"))) // yours: the authenticated user
            .store(PostgresIdempotencyStore.builder(pool).build())
            .build();
    Server server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(new Orders())
            .intercept(idempotency)
            .build()
            .start();

    Channel channel =
        Grpc.newChannelBuilder("localhost:" + server.getPort(), InsecureChannelCredentials.create())
            .build();
    String key = UUID.randomUUID().toString(); // one for each intent of the user
    System.out.println("first call: order " + createOrder(channel, key));
    System.out.println("its retry:  order " + createOrder(channel, key));
    System.out.println("a new key:  order " + createOrder(channel, UUID.randomUUID().toString()));
  }

  /** Migrates as the owner of the tables. Another role, app, serves calls. */
  private static void migrate(DataSource owner) throws SQLException {
    IdempotencySchema.migrate(owner);
    try (Connection connection = owner.getConnection();
        Statement sql = connection.createStatement()) {
      sql.execute("CREATE ROLE app LOGIN");
      sql.execute("CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY, item text)");
      sql.execute("GRANT SELECT, INSERT ON orders TO app");
      sql.execute("SELECT idempotency.grant_to('app')");
    }
  }

  /** The handler: the library commits its rows together with its answer, or neither. */
  private static final class Orders extends OrdersGrpc.OrdersImplBase {
    @Override
    public void createOrder(CreateOrderRequest request, StreamObserver<Order> observer) {
      System.out.println("    the handler inserts an order");
      String insert = "INSERT INTO orders (item) VALUES (?) RETURNING id";
      try (PreparedStatement sql = ClaimTransaction.connection().prepareStatement(insert)) {
        sql.setString(1, request.getItem());
        ResultSet row = sql.executeQuery();
        row.next();
        observer.onNext(Order.newBuilder().setId(row.getLong("id")).build());
        observer.onCompleted();
      } catch (SQLException failure) {
        observer.onError(Status.INTERNAL.withCause(failure).asException());
      }
    }
  }

  /** The client. */
  private static long createOrder(Channel channel, String key) {
    Metadata headers = new Metadata();
    headers.put(IdempotencyMetadata.KEY, key);
    return OrdersGrpc.newBlockingStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
        .createOrder(CreateOrderRequest.newBuilder().setItem("book").build())
        .getId();
  }
}
