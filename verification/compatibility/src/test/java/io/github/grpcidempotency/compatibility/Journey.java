package io.github.grpcidempotency.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.longrunning.Operation;
import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.github.grpcidempotency.compatibility.Client.Reply;
import io.github.grpcidempotency.compatibility.v1.BookSeatRequest;
import io.github.grpcidempotency.compatibility.v1.PrintTicketRequest;
import io.github.grpcidempotency.compatibility.v1.Seat;
import io.github.grpcidempotency.compatibility.v1.SeatServiceGrpc;
import io.github.grpcidempotency.compatibility.v1.Ticket;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

/**
 * What the library promises, over a socket and on PostgreSQL. It is the main class of one process
 * for each row, so that nothing of JUnit or Maven chooses the versions it runs on.
 */
final class Journey {
  /** The last line, if everything held. */
  static final String HELD = "Everything held.";

  private static final BookSeatRequest SEAT =
      BookSeatRequest.newBuilder().setRow("A").setSent("at noon").build();

  private final Host host;
  private final Client client;

  private Journey(Host host, Client client) {
    this.host = host;
    this.client = client;
  }

  /** Plays it in the empty database of the URL. */
  public static void main(String... args) throws Exception {
    for (String name :
        List.of(
            "com.google.protobuf.Message",
            "com.google.common.base.Throwables",
            "io.grpc.ServerInterceptor",
            "io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder",
            "org.flywaydb.core.Flyway")) {
      System.out.println(jarOf(Class.forName(name)));
    }
    try (Host host = Host.start(args[0]);
        Client client = Client.of(host.port())) {
      Journey journey = new Journey(host, client);
      journey.aHandlerRunsOnceAndItsRetryGetsTheSameAnswerAndTrailers();
      journey.theOptionInTheProtoIsObeyed();
      journey.aKeyThatIsUsedForAnotherRequestIsRefusedWithItsReason();
      journey.aTerminalErrorIsRepeatedWithItsDetails();
      journey.aHandlerInDoubtKeepsItsKey();
      journey.anAnswerIsFoundByItsKeyAndByItsOperation();
    }
    System.out.println(HELD);
  }

  private void aHandlerRunsOnceAndItsRetryGetsTheSameAnswerAndTrailers() {
    String key = newKey();

    Reply<Seat> first = client.bookSeat(key, SEAT);
    Reply<Seat> retry = client.bookSeat(key, SEAT);

    assertThat(retry.answer()).isEqualTo(first.answer());
    assertThat(host.seats()).isEqualTo(1);
    assertThat(first.trailer("idempotency-replayed")).isEmpty();
    assertThat(first.trailer("idempotency-status")).contains("completed");
    assertThat(first.trailer("idempotency-operation")).isPresent();
    assertThat(retry.trailer("idempotency-replayed")).contains("true");
    for (String same :
        List.of("idempotency-status", "idempotency-operation", "idempotency-expires")) {
      assertThat(retry.trailer(same)).as(same).isEqualTo(first.trailer(same));
    }
  }

  /** Of its resource, the check at the start has found the column. */
  private void theOptionInTheProtoIsObeyed() {
    String key = newKey();
    int before = host.seats();
    Reply<Seat> first = client.bookSeat(key, SEAT);

    assertThat(Instant.parse(first.trailer("idempotency-expires").orElseThrow()))
        .as("the retention of the option")
        .isBetween(in(Duration.ofDays(119)), in(Duration.ofDays(121)));
    assertThat(client.bookSeat(key, SEAT.toBuilder().setSent("later").build()).answer())
        .as("a field that the fingerprint leaves out")
        .isEqualTo(first.answer());
    assertThat(host.seats()).isEqualTo(before + 1);
    assertRefused(
        failure(() -> client.bookSeat(Optional.empty(), SEAT)),
        Status.Code.INVALID_ARGUMENT,
        "IDEMPOTENCY_KEY_REQUIRED");
  }

  private void aKeyThatIsUsedForAnotherRequestIsRefusedWithItsReason() {
    String key = newKey();
    client.bookSeat(key, SEAT);

    assertRefused(
        failure(() -> client.bookSeat(key, SEAT.toBuilder().setRow("B").build())),
        Status.Code.INVALID_ARGUMENT,
        "IDEMPOTENCY_KEY_REUSED");
  }

  private void aTerminalErrorIsRepeatedWithItsDetails() {
    PrintTicketRequest request = PrintTicketRequest.newBuilder().setPrinter("no paper").build();
    String key = newKey();
    int before = host.tickets();

    StatusRuntimeException first = failure(() -> client.printTicket(key, request));
    StatusRuntimeException retry = failure(() -> client.printTicket(key, request));

    assertRefused(first, Status.Code.FAILED_PRECONDITION, "NO_PAPER");
    assertThat(StatusProto.fromThrowable(retry)).isEqualTo(StatusProto.fromThrowable(first));
    assertThat(host.tickets()).isEqualTo(before + 1);
  }

  private void aHandlerInDoubtKeepsItsKey() {
    PrintTicketRequest request = PrintTicketRequest.newBuilder().setPrinter("silent").build();
    String key = newKey();
    int before = host.tickets();

    StatusRuntimeException first = failure(() -> client.printTicket(key, request));
    StatusRuntimeException retry = failure(() -> client.printTicket(key, request));

    assertThat(first.getStatus().getCode()).isEqualTo(Status.Code.UNKNOWN);
    assertRefused(retry, Status.Code.ABORTED, "IDEMPOTENCY_OUTCOME_UNKNOWN");
    assertThat(detail(retry, RetryInfo.class).getRetryDelay().getSeconds()).isPositive();
    assertThat(host.tickets()).isEqualTo(before + 1);
    Reply<Ticket> other =
        client.printTicket(newKey(), request.toBuilder().setPrinter("quick").build());
    assertThat(other.answer().getNumber()).isPositive();
  }

  private void anAnswerIsFoundByItsKeyAndByItsOperation() throws InvalidProtocolBufferException {
    String key = newKey();
    Reply<Seat> reply = client.bookSeat(key, SEAT);

    Operation operation = client.operation(reply.trailer("idempotency-operation").orElseThrow());
    RecoverResponse found =
        client.recover(SeatServiceGrpc.getBookSeatMethod().getFullMethodName(), key);

    assertThat(operation.getDone()).isTrue();
    assertThat(operation.getResponse().unpack(Seat.class)).isEqualTo(reply.answer());
    assertThat(found.getResponse().unpack(Seat.class)).isEqualTo(reply.answer());
  }

  private static void assertRefused(
      StatusRuntimeException refusal, Status.Code code, String reason) {
    assertThat(refusal.getStatus().getCode()).isEqualTo(code);
    assertThat(detail(refusal, ErrorInfo.class).getReason()).isEqualTo(reason);
  }

  private static <T extends Message> T detail(StatusRuntimeException failure, Class<T> type) {
    for (Any detail : Objects.requireNonNull(StatusProto.fromThrowable(failure)).getDetailsList()) {
      if (detail.is(type)) {
        try {
          return detail.unpack(type);
        } catch (InvalidProtocolBufferException e) {
          throw new AssertionError(e);
        }
      }
    }
    throw new AssertionError("no %s in %s".formatted(type.getSimpleName(), failure));
  }

  private static StatusRuntimeException failure(Runnable call) {
    return Objects.requireNonNull(
        catchThrowableOfType(StatusRuntimeException.class, call::run), "no error");
  }

  private static Instant in(Duration duration) {
    return Instant.now().plus(duration);
  }

  private static String newKey() {
    return UUID.randomUUID().toString();
  }

  private static String jarOf(Class<?> type) {
    String location = type.getProtectionDomain().getCodeSource().getLocation().getPath();
    return Arrays.stream(location.split("/")).reduce("", (before, name) -> name);
  }
}
