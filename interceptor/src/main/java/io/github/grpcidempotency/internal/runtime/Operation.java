package io.github.grpcidempotency.internal.runtime;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.method.MessageTypes;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An operation that this process runs: its request, its claim, and what is recorded for its answer.
 * Thread-safe.
 */
public final class Operation {
  private static final Logger logger = LoggerFactory.getLogger(Operation.class);

  private final KeyedRequest request;
  private final Claim claim;
  private final CallEvents events;
  private final long begun = System.nanoTime();
  private final AtomicBoolean lost = new AtomicBoolean();
  private volatile long ended = begun;
  private volatile boolean settling;
  private volatile boolean confirmed;
  private Optional<Sealed> lastSealed = Optional.empty();

  private record Sealed(RecordedOutcome answer, RecordedOutcome kept) {}

  /**
   * Makes the operation of a request whose handler begins now. Its claim was won, or is to be
   * confirmed once the handler has ended.
   */
  public Operation(KeyedRequest request, Claim claim, CallEvents events) {
    this.request = request;
    this.claim = claim;
    this.events = events;
    this.confirmed = claim.isWon();
  }

  /** Returns the request. */
  public KeyedRequest request() {
    return request;
  }

  /** Returns the right to run, and the duty to settle. */
  public Claim claim() {
    return claim;
  }

  /** Returns who hears of this operation. */
  public CallEvents events() {
    return events;
  }

  /**
   * Returns whether the claim was won before the handler began, or is confirmed. Nothing is settled
   * or heard of a claim before that.
   */
  public boolean isConfirmed() {
    return confirmed;
  }

  /**
   * Finds out whether the claim is won.
   *
   * @throws StoreException if the store could not be asked
   */
  boolean confirm() {
    confirmed = confirmed || claim.confirm();
    return confirmed;
  }

  /** Notes that the handler has ended. */
  void handlerEnded() {
    ended = System.nanoTime();
  }

  /** Returns for how long the handler ran, or has been running. */
  Duration handlerTime() {
    return Duration.ofNanos((ended == begun ? System.nanoTime() : ended) - begun);
  }

  /** Returns how long ago the handler ended. */
  Duration sinceHandlerEnded() {
    return Duration.ofNanos(System.nanoTime() - ended);
  }

  /** Lets it be heard, once, that somebody else owns the key. */
  void leaseLost() {
    if (!lost.getAndSet(true)) {
      events.leaseLost(claim.operationId());
    }
  }

  /** Settles the claim. */
  Settled settle(Supplier<Settled> write) {
    settling = true;
    try {
      return write.get();
    } finally {
      settling = false;
    }
  }

  /** Returns whether the claim is being settled: who settles it learns whether it was lost. */
  boolean isSettling() {
    return settling;
  }

  /** Returns the procedure that is called. */
  public Procedure procedure() {
    return request.procedure();
  }

  /** Returns what is recorded for a response, unsealed. */
  RecordedOutcome answerOf(Message response) {
    return RecordedResponse.of(request, claim.operationId(), response);
  }

  /** Returns whether the record of a response will refer to a resource, as far as is known. */
  public boolean namesResource(Message response) {
    return procedure().resourceType().isEmpty()
        || RecordedResponse.resourceId(request, claim.operationId(), response).isPresent();
  }

  /** Returns why an answer is too large to be recorded, as a sentence; empty if it is not. */
  Optional<String> tooLarge(RecordedOutcome answer) {
    return RecordedResponse.tooLarge(procedure(), answer);
  }

  /**
   * Returns what a store keeps for a response that the handler's own transaction records. The same
   * response gives the same result each time.
   *
   * @throws IllegalArgumentException if the method answers with another type
   * @throws TransactionMisuseException if it is too large to be recorded
   * @throws StoreException if it cannot be sealed
   */
  public RecordedOutcome keptOf(Message response) {
    checkType(response.getDescriptorForType().getFullName());
    RecordedOutcome answer = answerOf(response);
    tooLarge(answer)
        .ifPresent(
            why -> {
              throw new TransactionMisuseException(why);
            });
    return seal(answer);
  }

  private void checkType(String given) {
    procedure()
        .method()
        .flatMap(MessageTypes::response)
        .map(Descriptor::getFullName)
        .filter(type -> !type.equals(given))
        .ifPresent(
            type -> {
              throw new IllegalArgumentException(
                  "%s returns %s; the answer to record is a %s"
                      .formatted(procedure().name(), type, given));
            });
  }

  /**
   * Records an answer. If the handler's own transaction was to record it, and was rolled back, the
   * key is released.
   *
   * @param answer unsealed
   * @throws StoreException if it is not known whether the answer was recorded
   * @throws TransactionMisuseException if it is too large; the transaction is rolled back
   */
  Settled complete(RecordedOutcome answer) {
    Optional<String> tooLarge = tooLarge(answer);
    if (tooLarge.isPresent()) {
      Settled unused = claim.release();
      throw new TransactionMisuseException(tooLarge.get());
    }
    RecordedOutcome kept;
    try {
      kept = seal(answer);
    } catch (StoreException unsealed) {
      // A reservation is completed later; a transaction must not stay open until then.
      claim.transaction().ifPresent(open -> open.rollback());
      throw unsealed;
    }
    Settled settled = claim.complete(kept);
    if (settled == Settled.ROLLED_BACK && claim.transaction().isEmpty()) {
      release();
    }
    return settled == Settled.DONE && lacksResource(answer) ? Settled.UNREFERRED : settled;
  }

  private boolean lacksResource(RecordedOutcome answer) {
    return procedure().resourceType().isPresent()
        && !(answer instanceof RecordedOutcome.Failure)
        && answer.resourceId().isEmpty();
  }

  /** Nothing of the operation remains, so it need not be known whether the key is free already. */
  private void release() {
    try {
      Settled unused = claim.release();
    } catch (RuntimeException leaseEnds) {
      logger.debug(
          "could not release operation {}; its key stays reserved until the lease" + " ends",
          claim.operationId(),
          leaseEnds);
    }
  }

  /** Seals an answer once: sealing again gives other bytes, and a store may compare the two. */
  private synchronized RecordedOutcome seal(RecordedOutcome answer) {
    if (lastSealed.filter(last -> last.answer().equals(answer)).isEmpty()) {
      lastSealed = Optional.of(new Sealed(answer, request.seal().seal(answer)));
    }
    return lastSealed.orElseThrow().kept();
  }
}
