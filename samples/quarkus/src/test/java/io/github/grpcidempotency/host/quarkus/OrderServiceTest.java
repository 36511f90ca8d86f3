package io.github.grpcidempotency.host.quarkus;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.host.quarkus.notes.v1.Note;
import io.github.grpcidempotency.host.quarkus.notes.v1.NoteServiceGrpc;
import io.github.grpcidempotency.host.quarkus.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.host.quarkus.shop.v1.CreateShipmentRequest;
import io.github.grpcidempotency.host.quarkus.shop.v1.GetDeliveryTimeRequest;
import io.github.grpcidempotency.host.quarkus.shop.v1.Order;
import io.github.grpcidempotency.host.quarkus.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.host.quarkus.shop.v1.Shipment;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.MetadataUtils;
import io.quarkus.grpc.GrpcService;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Filter;
import java.util.logging.Logger;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@QuarkusTest
@SuppressWarnings("NullAway.Init") // what is injected
@QuarkusTestResource(Database.class)
class OrderServiceTest {
  private static final CreateOrderRequest TEA =
      CreateOrderRequest.newBuilder().setItem("tea").build();

  @TestHTTPResource URI address;

  /** Past row-level security. */
  @ConfigProperty(name = "test.superuser.url")
  String superuser;

  @Inject @GrpcService NoteService notes;

  private final AtomicReference<Metadata> trailers = new AtomicReference<>();
  private ManagedChannel channel;

  @BeforeEach
  void connect() {
    channel =
        ManagedChannelBuilder.forAddress(address.getHost(), address.getPort())
            .usePlaintext()
            .build();
  }

  @AfterEach
  void disconnect() {
    channel.shutdownNow();
  }

  @Test
  void aRetryOfAnOrderIsReplayed() throws Exception {
    OrderServiceGrpc.OrderServiceBlockingStub client = withNewKey(orders());
    long before = count("orders");

    Order first = client.createOrder(TEA);
    assertThat(isReplay()).isFalse();
    Order second = client.createOrder(TEA);

    assertThat(isReplay()).isTrue();
    assertThat(second).isEqualTo(first);
    assertThat(count("orders")).isEqualTo(before + 1);
    assertThat(isOneCommit("orders", "order_id", first.getId())).isTrue();
  }

  private OrderServiceGrpc.OrderServiceBlockingStub orders() {
    return OrderServiceGrpc.newBlockingStub(channel);
  }

  private <S extends AbstractStub<S>> S withNewKey(S stub) {
    Metadata headers = new Metadata();
    headers.put(IdempotencyMetadata.KEY, UUID.randomUUID().toString());
    headers.put(
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
        "Basic "
            + Base64.getEncoder().encodeToString("alice:secret".getBytes(StandardCharsets.UTF_8)));
    return stub.withInterceptors(
        MetadataUtils.newAttachHeadersInterceptor(headers),
        MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers));
  }

  private boolean isReplay() {
    return requireNonNull(trailers.get()).containsKey(IdempotencyMetadata.REPLAYED);
  }

  @Test
  void anOrderThatFailsLeavesNothing() throws Exception {
    OrderServiceGrpc.OrderServiceBlockingStub client = withNewKey(orders());
    long before = count("orders");

    StatusRuntimeException failure =
        catchThrowableOfType(
            StatusRuntimeException.class,
            () -> client.createOrder(CreateOrderRequest.getDefaultInstance()));

    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(count("orders")).isEqualTo(before);
    client.createOrder(TEA); // the key is free again
    assertThat(isReplay()).isFalse();
  }

  @Test
  void aRetryOfAReservedCallGetsTheFirstShipment() throws Exception {
    Order order = withNewKey(orders()).createOrder(TEA);
    OrderServiceGrpc.OrderServiceBlockingStub client = withNewKey(orders());
    CreateShipmentRequest request =
        CreateShipmentRequest.newBuilder().setOrderId(order.getId()).build();

    Shipment first = client.createShipment(request);
    assertThat(isReplay()).isFalse();

    assertThat(client.createShipment(request)).isEqualTo(first);
    assertThat(isReplay()).isTrue();
    assertThat(count("shipments")).isEqualTo(1);
  }

  @Test
  void aHandlerThatStaysOnTheEventLoopIsRefusedIfItsMethodIsIdempotent() {
    NoteServiceGrpc.NoteServiceBlockingStub client =
        withNewKey(NoteServiceGrpc.newBlockingStub(channel));

    StatusRuntimeException failure =
        catchThrowableOfType(
            StatusRuntimeException.class, () -> client.createNote(Note.getDefaultInstance()));

    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.INTERNAL);
    assertThat(failure).hasMessageContaining("mark its handler @Blocking");
    assertThat(notes.runs).hasValue(0);
  }

  @Test
  void writesInATransactionOfTheirOwnAreReportedAsUnprotected() {
    List<String> decisions = new CopyOnWriteArrayList<>();
    Logger log = Logger.getLogger("io.github.grpcidempotency.decision");
    Filter before = log.getFilter();
    log.setFilter(entry -> decisions.add(entry.getMessage()));
    try {
      withNewKey(NoteServiceGrpc.newBlockingStub(channel))
          .createNoteBeside(Note.getDefaultInstance());
    } finally {
      log.setFilter(before);
    }

    assertThat(decisions).anyMatch(line -> line.contains("TRANSACTION_SUSPENDED"));
  }

  @Test
  void otherMethodsMayStayOnTheEventLoop() {
    assertThat(orders().getDeliveryTime(GetDeliveryTimeRequest.getDefaultInstance()).getDays())
        .isEqualTo(3);
  }

  private long count(String table) throws SQLException {
    return number("SELECT count(*) FROM shop." + table);
  }

  private boolean isOneCommit(String table, String column, String id) throws SQLException {
    return number(
            """
            SELECT count(*) FROM shop.%1$s AS made
            JOIN idempotency.idempotency_keys AS record ON record.%2$s = made.id
            WHERE made.id = '%3$s' AND record.xmin = made.xmin
            """
                .formatted(table, column, id))
        == 1;
  }

  private long number(String query) throws SQLException {
    try (Connection connection = DriverManager.getConnection(superuser);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getLong(1);
    }
  }
}
