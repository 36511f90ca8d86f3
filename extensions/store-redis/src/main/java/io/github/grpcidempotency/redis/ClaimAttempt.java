package io.github.grpcidempotency.redis;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.FailureRemedy;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * One claim of a reservation:
 *
 * <ol>
 *   <li>One script reserves the key, takes over an abandoned reservation of the same request, or
 *       returns the existing record.
 *   <li>If the answer is lost, the script is sent once more with the same token. It then finds the
 *       reservation that the first script may have made.
 *   <li>If replicas are required, they must confirm the reservation or record. If they do not, the
 *       reservation is released, and the handler does not run.
 *   <li>A lease counts from the time when the server ran the script. If the answer took long, the
 *       claim extends the lease before it wins, and the server decides whether that was still
 *       possible.
 * </ol>
 *
 * <p>If Redis accepts no writes, or would lose them, the record is read without writing: an answer
 * that the replicas have is replayed, and a known holder keeps its key. A replica may not have the
 * reservation yet, so without a record the owner of the key is unknown.
 */
final class ClaimAttempt {
  private static final int MAX_ROUNDS = 3;

  private final RecordStore records;
  private final ClaimRequest request;
  private final byte[] key;
  private final byte[] owner = token();

  ClaimAttempt(RecordStore records, ClaimRequest request) {
    this.records = records;
    this.request = request;
    this.key = records.keyOf(request.key());
  }

  ClaimResult run() {
    try {
      return claim();
    } catch (StoreException failure) {
      boolean readable =
          failure.failureCause().remedy(failure.phase()) == FailureRemedy.FIND
              || (failure.getCause() instanceof RedisFailure cause
                  && (cause.isReadOnly() || cause.isForgetful()));
      if (readable) {
        return find(failure);
      }
      throw failure;
    }
  }

  private ClaimResult claim() {
    FailurePhase known = FailurePhase.NOTHING_SENT;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      Optional<ClaimResult> result = confirmed(sendTwiceIfLost(known));
      if (result.isPresent()) {
        return result.get();
      }
      known = FailurePhase.ANSWER_LOST; // the lease has ended, and another call may own the key
    }
    throw StoreException.of(
        known,
        FailureCause.TIMEOUT,
        "the server answers too late: the lease ended before the claim could be confirmed");
  }

  /**
   * An answer of the claim's script.
   *
   * @param sent when the script was sent, by {@link System#nanoTime}
   */
  private record Answer(RedisSession session, RecordReply reply, long sent) {}

  private Answer sendTwiceIfLost(FailurePhase known) {
    try {
      return send();
    } catch (RedisFailure failure) {
      // A connection to a demoted server is closed. The next connection may lead to its successor,
      // which may have an owner for the key.
      boolean elsewhere = failure.isReadOnly();
      if (!failure.mayBeDone() && !elsewhere) {
        throw givenUp(failure, known);
      }
      if (known != FailurePhase.NOTHING_SENT && !elsewhere) {
        throw givenUp(failure, FailurePhase.ANSWER_LOST);
      }
    }
    return knowing(FailurePhase.ANSWER_LOST, this::send);
  }

  /** Runs a step. If it fails, the failure contains what was known about the key before. */
  private static <T> T knowing(FailurePhase known, Supplier<T> step) {
    try {
      return step.get();
    } catch (RedisFailure failure) {
      throw givenUp(failure, known);
    }
  }

  private static StoreException givenUp(RedisFailure failure, FailurePhase phase) {
    return StoreException.of(phase, failure.why(), "could not claim the key").initCause(failure);
  }

  private Answer send() {
    List<byte[]> arguments = new ArrayList<>();
    arguments.add(owner);
    arguments.add(RecordReply.bytes(UuidCreator.getTimeOrderedEpochFast().toString()));
    arguments.add(RecordReply.bytes(request.procedure().name()));
    arguments.add(RecordReply.bytes(request.fingerprint().version()));
    arguments.add(request.fingerprint().hash().toByteArray());
    arguments.add(RecordReply.bytes(records.lease().toMillis()));
    arguments.add(RecordReply.bytes(request.retention().toMillis()));
    request.trace().ifPresent(trace -> arguments.add(trace.toByteArray()));
    RedisSession session = records.link().session();
    records.settings().requireKept(session);
    long sent = System.nanoTime();
    return new Answer(
        session,
        RecordReply.of(session.run(Script.CLAIM, key, arguments.toArray(byte[][]::new))),
        sent);
  }

  /** Returns the result once it is confirmed and in time; empty if the claim has to be repeated. */
  private Optional<ClaimResult> confirmed(Answer answer) {
    RecordReply reply = answer.reply();
    if (reply instanceof RecordReply.Won won) {
      return knowing(FailurePhase.ANSWER_LOST, () -> win(answer, won));
    }
    if (!(reply instanceof RecordReply.Seen seen)) {
      throw new IllegalStateException("the claim script returned no record");
    }
    return knowing(
        FailurePhase.ROW_SEEN,
        () -> {
          if (seen.result() instanceof ClaimResult.Recorded) {
            answer.session().confirm();
          }
          return Optional.of(seen.result());
        });
  }

  private Optional<ClaimResult> win(Answer answer, RecordReply.Won won) {
    try {
      answer.session().confirm();
    } catch (RedisFailure unconfirmed) {
      giveBack();
      throw unconfirmed;
    }
    return isLate(answer.sent()) && !extend(answer.session())
        ? Optional.empty()
        : Optional.of(new ClaimResult.Won(new Reservation(records, request, owner, won)));
  }

  /** Returns whether so much of the lease may have passed that the first renewal would be late. */
  private boolean isLate(long sent) {
    return System.nanoTime() - sent > records.lease().toNanos() / 3;
  }

  /** Extends the lease. Returns whether that was possible, and in time. */
  private boolean extend(RedisSession session) {
    long sent = System.nanoTime();
    byte[] lease = RecordReply.bytes(records.lease().toMillis());
    return RecordReply.isDone(session.run(Script.RENEW, key, owner, lease)) && !isLate(sent);
  }

  /** Tries to release the reservation. If that fails, its lease ends by itself. */
  private void giveBack() {
    try {
      records.link().session().run(Script.RELEASE, key, owner);
    } catch (RedisFailure ignored) {
      // The failure that is thrown is more useful.
    }
  }

  private ClaimResult find(StoreException broken) {
    try {
      return RecordStore.find(records.link().session(), key).orElseThrow(() -> broken);
    } catch (RedisFailure failure) {
      broken.addSuppressed(failure);
      throw broken;
    }
  }

  private static byte[] token() {
    UUID token = UUID.randomUUID();
    return ByteBuffer.allocate(2 * Long.BYTES)
        .putLong(token.getMostSignificantBits())
        .putLong(token.getLeastSignificantBits())
        .array();
  }
}
