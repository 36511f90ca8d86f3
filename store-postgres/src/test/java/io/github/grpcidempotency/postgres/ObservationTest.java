package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a row says to operators: which server holds it, and in which trace its answer was made. */
class ObservationTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private final KeyTable table = new KeyTable(database);
  private final UUID user = UUID.randomUUID();
  private final PostgresIdempotencyStore left = named("left:1");
  private final PostgresIdempotencyStore right = named("right:2");

  @Test
  void aReservationNamesTheServerThatHoldsIt() {
    Claim claim = Things.win(left, traced("a trace"));
    assertThat(server()).contains("left:1");

    claim.complete(Things.ANSWER);

    assertThat(server()).as("who held it").contains("left:1");
  }

  @Test
  void afterATakeoverTheTakerIsNamedAndItsClaimNamesTheDeadServer() {
    Claim first = Things.win(left, traced("a trace"));
    table.endLeases(user);

    Claim second = Things.win(right, traced("a trace"));

    assertThat(server()).contains("right:2");
    assertThat(first.takenOverFrom()).isEmpty();
    assertThat(second.takenOverFrom()).contains("left:1");
  }

  @Test
  void aKeyThatIsUsedAgainAfterItsExpiryNamesItsNewHolder() {
    Things.win(left, traced("a trace")).complete(Things.ANSWER);
    table.expire(user);

    Things.win(right, traced("a trace"));

    assertThat(server()).contains("right:2");
  }

  @Test
  void withoutASettingAServerIsNamedByItsHostAndProcess() {
    Things.win(PostgresIdempotencyStore.builder(database.app()).build(), traced("a trace"));

    assertThat(server().orElseThrow()).matches("[^:]+:" + ProcessHandle.current().pid());
  }

  @Test
  void aTransactionRecordsTheTraceOfItsRunAndNoServer() {
    winInTransaction("the run").complete(Things.ANSWER);

    assertThat(recordedInTransaction().trace()).contains(ByteString.copyFromUtf8("the run"));
    assertThat(server()).isEmpty();
  }

  @Test
  void aTransactionThatIsRolledBackRecordsItsErrorWithTheTrace() {
    winInTransaction("the run")
        .complete(new RecordedOutcome.Failure(ByteString.copyFromUtf8("an error")));

    assertThat(recordedInTransaction().trace()).contains(ByteString.copyFromUtf8("the run"));
    assertThat(server()).isEmpty();
  }

  @Test
  void aTransactionThatFollowsAnAbandonedReservationLeavesNothingOfIt() {
    Things.win(left, traced("crashed"));
    table.endLeases(user);

    winInTransaction("the run").complete(Things.ANSWER);

    assertThat(recordedInTransaction().trace()).contains(ByteString.copyFromUtf8("the run"));
    assertThat(server()).isEmpty();
  }

  private static PostgresIdempotencyStore named(String name) {
    return PostgresIdempotencyStore.builder(database.app()).serverName(name).build();
  }

  private ClaimRequest traced(String trace) {
    return ClaimRequest.of(
            new IdempotencyKey(Caller.of(user), "a key"),
            RecordedProcedure.of(Things.CREATE_THING),
            Fingerprinter.wholeRequest().fingerprint(Things.named("a thing")))
        .retainedFor(Things.CREATE_THING.retention())
        .tracedBy(Optional.of(ByteString.copyFromUtf8(trace)));
  }

  private Claim winInTransaction(String trace) {
    return ((ClaimResult.Won) left.claimInTransaction(traced(trace))).claim();
  }

  private ClaimResult.Recorded recordedInTransaction() {
    return (ClaimResult.Recorded) right.claimInTransaction(traced("a retry"));
  }

  /** Returns the server that the user's only row names. */
  private Optional<String> server() {
    return Optional.ofNullable(
        database.one(
            String.class,
            "SELECT server FROM idempotency.idempotency_keys WHERE user_uuid = ?",
            user));
  }
}
