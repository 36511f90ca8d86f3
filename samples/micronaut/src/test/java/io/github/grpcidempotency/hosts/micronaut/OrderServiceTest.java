package io.github.grpcidempotency.hosts.micronaut;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.hosts.orders.v1.CreateNoteRequest;
import io.github.grpcidempotency.hosts.orders.v1.CreateOrderRequest;
import io.github.grpcidempotency.hosts.orders.v1.CreateShipmentRequest;
import io.github.grpcidempotency.hosts.orders.v1.Note;
import io.github.grpcidempotency.hosts.orders.v1.Order;
import io.github.grpcidempotency.hosts.orders.v1.OrderServiceGrpc;
import io.github.grpcidempotency.hosts.orders.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.hosts.orders.v1.Shipment;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.postgres.spi.HostTransaction;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.micronaut.context.ApplicationContext;
import io.micronaut.grpc.server.GrpcEmbeddedServer;
import io.micronaut.transaction.SynchronousTransactionManager;
import io.micronaut.transaction.jdbc.DataSourceTransactionManager;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OrderServiceTest {
  private static final String ROLLS_BACK_AT_THE_COMMIT =
      """
      CREATE FUNCTION shop.refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'refused at the commit'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON shop.orders
        DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.item = 'refused at the commit') EXECUTE FUNCTION shop.refuse();
      """;

  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("shop_owner", "shop_app")
          .migrate(IdempotencySchema::migrate)
          .migrate(
              owner ->
                  Flyway.configure()
                      .dataSource(owner)
                      .schemas("shop")
                      .locations("shop")
                      .load()
                      .migrate())
          .migrate(
              owner -> {
                try (Connection connection = owner.getConnection()) {
                  connection.createStatement().execute(ROLLS_BACK_AT_THE_COMMIT);
                }
              })
          .create();

  private final AtomicReference<Metadata> trailers = new AtomicReference<>();
  private GrpcEmbeddedServer server;
  private HostTransactions transactions;
  private SynchronousTransactionManager<Connection> manager;
  private ManagedChannel channel;

  @BeforeAll
  void start() {
    server =
        ApplicationContext.run(
            GrpcEmbeddedServer.class,
            Map.of("datasources.default.url", database.jdbcUrl("shop_app"), "grpc.server.port", 0));
    transactions = server.getApplicationContext().getBean(HostTransactions.class);
    manager = server.getApplicationContext().getBean(DataSourceTransactionManager.class);
    channel =
        Grpc.newChannelBuilder("localhost:" + server.getPort(), InsecureChannelCredentials.create())
            .build();
  }

  @AfterAll
  void stop() {
    channel.shutdownNow();
    server.close();
  }

  @Test
  void aRetryGetsTheFirstAnswerAndMakesNothing() throws SQLException {
    OrderServiceBlockingStub stub = stub();
    CreateOrderRequest book = CreateOrderRequest.newBuilder().setItem("book").build();

    Order first = stub.createOrder(book);
    boolean replayed = replayed();
    Order retry = stub.createOrder(book);

    assertThat(replayed).isFalse();
    assertThat(replayed()).isTrue();
    assertThat(retry).isEqualTo(first);
    assertThat(count("shop.orders")).isEqualTo(1);
    assertThat(
            count(
                "shop.orders JOIN idempotency.idempotency_keys AS keys ON user_uuid = user_id"
                    + " WHERE keys.xmin = orders.xmin"))
        .as("an order of the caller, written in the transaction of its record")
        .isEqualTo(1);
  }

  @Test
  void aFailedHandlerLeavesNoRow() throws SQLException {
    OrderServiceBlockingStub stub = stub();
    CreateOrderRequest refused =
        CreateOrderRequest.newBuilder().setItem("refused after the insert").build();

    assertThatThrownBy(() -> stub.createOrder(refused)).isInstanceOf(StatusRuntimeException.class);

    assertThat(count("shop.orders")).isZero();
    assertThat(count("idempotency.idempotency_keys")).isZero();
  }

  @Test
  void aFailedCommitLeavesNoRowAndSendsNoAnswer() throws SQLException {
    OrderServiceBlockingStub stub = stub();
    CreateOrderRequest refused =
        CreateOrderRequest.newBuilder().setItem("refused at the commit").build();

    assertThatThrownBy(() -> stub.createOrder(refused)).isInstanceOf(StatusRuntimeException.class);

    assertThat(count("shop.orders")).isZero();
    assertThat(count("idempotency.idempotency_keys")).isZero();
  }

  @Test
  void jdbiWritesInTheSameTransaction() throws SQLException {
    OrderServiceBlockingStub stub = stub();
    CreateNoteRequest request = CreateNoteRequest.newBuilder().setText("to do").build();

    Note first = stub.createNote(request);
    Note retry = stub.createNote(request);

    assertThat(retry).isEqualTo(first);
    assertThat(
            count("shop.notes JOIN idempotency.idempotency_keys AS keys ON keys.xmin = notes.xmin"))
        .isEqualTo(1);
  }

  @Test
  void aRetryOfAReservedCallGetsTheFirstShipment() throws SQLException {
    Order order = stub().createOrder(CreateOrderRequest.newBuilder().setItem("book").build());
    OrderServiceBlockingStub stub = stub();
    CreateShipmentRequest request =
        CreateShipmentRequest.newBuilder().setOrderId(order.getId()).build();

    Shipment first = stub.createShipment(request);
    Shipment retry = stub.createShipment(request);

    assertThat(replayed()).isTrue();
    assertThat(retry).isEqualTo(first);
    assertThat(count("shop.shipments")).isEqualTo(1);
  }

  @Test
  void aReservedHandlerWhoseTransactionFailsRunsAgain() throws SQLException {
    OrderServiceBlockingStub stub = stub();
    CreateShipmentRequest ofNoOrder =
        CreateShipmentRequest.newBuilder().setOrderId(UUID.randomUUID().toString()).build();

    assertThatThrownBy(() -> stub.createShipment(ofNoOrder))
        .isInstanceOf(StatusRuntimeException.class);

    assertThat(count("shop.shipments")).isZero();
    assertThat(count("idempotency.idempotency_keys WHERE completed IS NOT NULL")).isZero();
  }

  @Test
  void aTransactionThatIsSetToRollbackOnlyDoesNotCommit() {
    HostTransaction begun = transactions.begin("set to rollback-only");
    manager.executeWrite(
        joined -> {
          joined.setRollbackOnly();
          return joined;
        });

    assertThat(begun.commit(() -> {})).isEqualTo(HostTransaction.Completion.ROLLED_BACK);
    assertThat(transactions.isActive()).isFalse();
  }

  @Test
  void aTransactionThatTheThreadHasIsSuspendedUntilTheNewOneHasEnded() {
    manager.executeWrite(
        outer -> {
          HostTransaction begun = transactions.begin("beside it");
          assertThat(begun.connection()).isNotSameAs(outer.getConnection());
          begun.rollback();
          assertThat(transactions.isActive()).isTrue();
          return outer;
        });

    assertThat(transactions.isActive()).isFalse();
  }

  /** A client with a new key. */
  private OrderServiceBlockingStub stub() {
    Metadata headers = new Metadata();
    headers.put(IdempotencyMetadata.KEY, UUID.randomUUID().toString());
    headers.put(Authentication.SUBJECT_HEADER, "auth0|alice");
    return OrderServiceGrpc.newBlockingStub(channel)
        .withInterceptors(
            MetadataUtils.newAttachHeadersInterceptor(headers),
            MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers));
  }

  private boolean replayed() {
    return Objects.requireNonNull(trailers.get()).containsKey(IdempotencyMetadata.REPLAYED);
  }

  /** Counts as a superuser, who sees past row-level security. */
  private static int count(String rows) throws SQLException {
    try (Connection superuser = database.superuser().getConnection();
        ResultSet result =
            superuser.createStatement().executeQuery("SELECT count(*) FROM " + rows)) {
      result.next();
      return result.getInt(1);
    }
  }
}
