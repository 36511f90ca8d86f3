package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.RecordedOutcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A claim that is a reservation: a lease, fenced by its owner's token. The attempt alone is not
 * enough as a fence: a server that has lost its last second assigns the same attempt twice.
 */
final class Reservation implements Claim {
  private final RecordStore records;
  private final ClaimRequest request;
  private final byte[] owner;
  private final RecordReply.Won won;

  Reservation(RecordStore records, ClaimRequest request, byte[] owner, RecordReply.Won won) {
    this.records = records;
    this.request = request;
    this.owner = owner.clone();
    this.won = won;
  }

  @Override
  public ClaimRequest request() {
    return request;
  }

  @Override
  public UUID operationId() {
    return won.id();
  }

  @Override
  public int attempt() {
    return won.attempt();
  }

  @Override
  public Instant expires() {
    return won.expires();
  }

  @Override
  public Settled complete(RecordedOutcome outcome) {
    List<byte[]> arguments = new ArrayList<>();
    arguments.add(owner);
    arguments.addAll(kindAndBody(outcome));
    arguments.add(RecordReply.bytes(records.lease().toMillis()));
    outcome
        .resourceId()
        .map(ResourceId::toString)
        .map(RecordReply::bytes)
        .ifPresent(arguments::add);
    return records.inStore(
        "record the answer",
        session -> {
          Settled settled = settled(session.run(Script.COMPLETE, key(), array(arguments)));
          if (settled == Settled.DONE) {
            session.confirm();
          }
          return settled;
        });
  }

  @Override
  public Settled release() {
    return records.inStore(
        "release the key", session -> settled(session.run(Script.RELEASE, key(), owner)));
  }

  @Override
  public Settled markUnknown() {
    return records.inStore(
        "mark the outcome as unknown",
        session -> settled(session.run(Script.MARK_UNKNOWN, key(), owner)));
  }

  byte[] key() {
    return records.keyOf(request.key());
  }

  byte[] owner() {
    return owner.clone();
  }

  private static Settled settled(List<@Nullable Object> answer) {
    return RecordReply.isDone(answer) ? Settled.DONE : Settled.LOST;
  }

  private static byte[][] array(List<byte[]> arguments) {
    return arguments.toArray(byte[][]::new);
  }

  private static List<byte[]> kindAndBody(RecordedOutcome outcome) {
    if (outcome instanceof RecordedOutcome.Response response) {
      return List.of(RecordReply.Kind.RESPONSE.bytes(), response.bytes().toByteArray());
    }
    return outcome instanceof RecordedOutcome.Failure failure
        ? List.of(RecordReply.Kind.FAILURE.bytes(), failure.bytes().toByteArray())
        : List.of(RecordReply.Kind.REFERENCE.bytes(), new byte[0]);
  }
}
