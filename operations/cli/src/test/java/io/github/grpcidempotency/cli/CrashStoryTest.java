package io.github.grpcidempotency.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.ResourceType;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A server dies in the middle of a call, and an operator sees, understands and acts. */
class CrashStoryTest {
  @RegisterExtension static final PostgresFixture database = Orders.create();

  private static final RecordedProcedure CREATE_ORDER =
      new RecordedProcedure(
          "orders.v1.OrderService/CreateOrder",
          Optional.of(ResourceType.of("order")),
          false,
          Optional.empty(),
          false,
          false);

  /** How the name of this process ends. */
  private static final String SERVER = ":" + ProcessHandle.current().pid();

  private final Caller caller = Caller.of(UUID.randomUUID()).inTenant("acme");
  private final IdempotencyKey key = new IdempotencyKey(caller, UUID.randomUUID().toString());
  private final Shell shell = Shell.with(Orders.operator(database));

  @Test
  void aCallOfADeadServerIsSeenUnderstoodAndFreed() {
    String id = claim("a chair").claim().operationId().toString();

    // Nobody renews its lease, as nobody does once its server was killed.
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(
            () ->
                assertThat(shell.run("list", "--stuck").expect(ExitCode.OK).out())
                    .contains(id, SERVER));

    assertThat(shell.run("show", key.value(), "--namespace", "acme").expect(ExitCode.OK).out())
        .contains(id, "state         stuck", SERVER)
        .contains("so the server has crashed or is disconnected");

    shell.run("free", id, "--reason", "orders-7d9f is gone; no order was made").expect(ExitCode.OK);

    ClaimResult.Won retried = claim("two chairs");
    assertThat(retried.claim().operationId().toString()).isNotEqualTo(id);
    assertThat(shell.run("audit").expect(ExitCode.OK).out())
        .contains(id, "ada@console-1", "orders-7d9f is gone; no order was made");
    assertThat(shell.run("show", key.value(), "--namespace", "acme").expect(ExitCode.OK).out())
        .contains(retried.claim().operationId().toString());
  }

  /** Claims as a server does, whether the key has been used for the same request or not. */
  private ClaimResult.Won claim(String request) {
    PostgresIdempotencyStore store =
        PostgresIdempotencyStore.builder(database.pool()).lease(Duration.ofMillis(200)).build();
    return (ClaimResult.Won)
        store.claim(
            new ClaimRequest(
                key,
                CREATE_ORDER,
                new Fingerprint(1, ByteString.copyFromUtf8(request)),
                Duration.ofHours(1)));
  }
}
