package io.github.grpcidempotency.internal.settling;

import com.google.common.collect.MapMaker;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Message;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.record.RecordSeal;
import io.github.grpcidempotency.key.internal.FieldPath;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.internal.MethodSchema;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An operation that this process runs, and the only owner of its claim: the lease, the transaction
 * and the connection end with it. {@link Settler} settles it, or leaves it to {@link LateSettler}.
 * {@link #close} ends an operation that neither has settled.
 */
public final class OwnedClaim implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(OwnedClaim.class);

  /** One for each descriptor, so that servers in one process do not silence each other. */
  private static final ConcurrentMap<Procedure, RateLimitedLog> LOGS =
      new MapMaker().weakKeys().makeMap();

  /** The code that ends the claim. */
  private enum Owner {
    CALL,
    LATE_SETTLER,
    NOBODY
  }

  /** A response cannot be recorded: it is too large, or it cannot be serialized. */
  static final class UnrecordableException extends Exception {
    private static final long serialVersionUID = 1;

    private final transient Optional<ResourceId> resource;

    UnrecordableException(
        String message, Optional<ResourceId> resource, @Nullable Throwable cause) {
      super(message, cause);
      this.resource = resource;
    }

    /** Returns the resource of the response. */
    Optional<ResourceId> resource() {
      return resource;
    }
  }

  private final LeaseKeeper leases;
  private final KeyedRequest request;
  private final Claim claim;
  private final CallEvents events;
  private final long begun;
  private final AtomicReference<Owner> owner = new AtomicReference<>(Owner.CALL);
  private final AtomicBoolean lost = new AtomicBoolean();
  private volatile long ended;
  private volatile long retried;

  /** Whether the claim is being settled. The settlement finds out whether the claim was lost. */
  volatile boolean settling;

  @GuardedBy("this")
  private Optional<Sealed> lastSealed = Optional.empty();

  private record Sealed(RecordedOutcome answer, RecordedOutcome kept) {}

  /**
   * Takes over a claim that was won.
   *
   * @param begun when the handler started, by {@link System#nanoTime}
   */
  public OwnedClaim(
      LeaseKeeper leases, KeyedRequest request, Claim claim, CallEvents events, long begun) {
    this.leases = leases;
    this.request = request;
    this.claim = claim;
    this.events = events;
    this.begun = begun;
    this.ended = begun;
    this.retried = begun;
  }

  public KeyedRequest request() {
    return request;
  }

  public Claim claim() {
    return claim;
  }

  public CallEvents events() {
    return events;
  }

  /** Renews the lease until the operation ends. */
  public void renew() {
    leases.track(this);
  }

  /** Leaves the claim to the late settler. Its lease is renewed until then. */
  void settleLater() {
    leases.track(this);
    owner.set(Owner.LATE_SETTLER);
  }

  /** Ends the operation: its claim is settled, or is not settled any more. */
  void end() {
    if (owner.getAndSet(Owner.NOBODY) != Owner.NOBODY) {
      release();
    }
  }

  /**
   * Ends the operation if its call has neither settled it nor left it to the late settler: rolls
   * back, stops renewing the lease, and emits an event. Never throws.
   */
  @Override
  public void close() {
    if (owner.compareAndSet(Owner.CALL, Owner.NOBODY)) {
      release();
      events.settlementFailed(
          claim.operationId(), Settlement.MARK_UNKNOWN, null, claim.transaction().isPresent());
    }
  }

  private void release() {
    try {
      claim.close();
    } catch (RuntimeException | Error unclosed) {
      logger.error("operation {} could not be closed", claim.operationId(), unclosed);
    } finally {
      leases.drop(claim);
    }
  }

  void handlerEnded() {
    ended = System.nanoTime();
  }

  /** Returns how long the handler ran, or has been running. */
  Duration handlerTime() {
    return Duration.ofNanos((ended == begun ? System.nanoTime() : ended) - begun);
  }

  Duration sinceHandlerEnded() {
    return Duration.ofNanos(System.nanoTime() - ended);
  }

  /** Called when this process has received a duplicate. */
  void retried() {
    retried = System.nanoTime();
  }

  /** Returns whether this process has received a duplicate within the last time of this length. */
  public boolean wasRetriedWithin(Duration time) {
    return retried != begun && System.nanoTime() - retried < time.toNanos();
  }

  /** Emits, once, the event that the key has another owner. */
  void leaseLost() {
    if (!lost.getAndSet(true)) {
      events.leaseLost(claim.operationId());
    }
  }

  public Procedure procedure() {
    return request.procedure();
  }

  /**
   * Returns the record of a response, not encrypted.
   *
   * @throws UnrecordableException if the response is too large, or cannot be serialized
   */
  RecordedOutcome recordOf(Message response) throws UnrecordableException {
    Optional<ResourceId> resource = resourceId(response);
    if (procedure().responseRebuilder().isPresent() && resource.isPresent()) {
      return new RecordedOutcome.Reference(resource);
    }
    try {
      Message recorded = FieldPath.without(response, procedure().omittedFields());
      // Compared before the response is serialized, because there may be no memory for it.
      int size = recorded.getSerializedSize();
      if (size > procedure().maxRecordedBytes()) {
        throw tooLarge(size, resource);
      }
      return new RecordedOutcome.Response(recorded.toByteString(), resource);
    } catch (RuntimeException | Error broken) {
      throw new UnrecordableException(
          "%s: the answer cannot be serialized: %s".formatted(procedure().name(), describe(broken)),
          resource,
          broken);
    }
  }

  private UnrecordableException tooLarge(int size, Optional<ResourceId> resource) {
    return new UnrecordableException(
        ("%s: the answer is too large to be recorded: %,d bytes, and maxRecordedBytes is %,d; omit"
                + " its large fields, rebuild it from its resource, or raise maxRecordedBytes")
            .formatted(procedure().name(), size, procedure().maxRecordedBytes()),
        resource,
        null);
  }

  /** Returns the id of the resource in a response. Logs a warning if a required id is missing. */
  private Optional<ResourceId> resourceId(Message response) {
    Procedure procedure = procedure();
    if (procedure.resourceType().isEmpty()) {
      return Optional.empty();
    }
    try {
      Optional<ResourceId> found =
          procedure.deletes()
              ? procedure.deletedId(request.message())
              : procedure.resourceId(response);
      Optional<ResourceId> id = found.flatMap(claim.resourceIdType()::read);
      if (id.isEmpty()) {
        warnOfMissingId(
            "the %s contains no id%s"
                .formatted(
                    procedure.deletes() ? "request" : "response",
                    found
                        .map(other -> " of the type " + claim.resourceIdType().sqlName())
                        .orElse("")));
      }
      return id;
    } catch (Throwable wrong) {
      warnOfMissingId("the function threw " + describe(wrong));
      return Optional.empty();
    }
  }

  private void warnOfMissingId(String problem) {
    LOGS.computeIfAbsent(procedure(), any -> RateLimitedLog.of(logger))
        .warn(
            problem,
            null,
            ("%s: cannot read the id of its resource: %s. Operation %s is recorded without a"
                    + " reference%s")
                .formatted(
                    procedure().name(),
                    problem,
                    claim.operationId(),
                    procedure().statusSource().isPresent()
                        ? ", and its answers have no idempotency-status"
                        : ""));
  }

  /**
   * Leaves out the message of an exception of the service, which may contain a part of the
   * response.
   */
  private static String describe(Throwable wrong) {
    return wrong.getClass().getName()
        + Arrays.stream(wrong.getStackTrace())
            .filter(frame -> !frame.getClassName().startsWith("java."))
            .filter(frame -> !frame.getClassName().equals(ResourceId.class.getName()))
            .findFirst()
            .map(frame -> " at " + frame)
            .orElse("");
  }

  /**
   * Returns the form in which the handler's own transaction records a response. Repeated calls with
   * the same response return the same result.
   */
  public RecordedOutcome keptOf(Message response) {
    checkType(response.getDescriptorForType().getFullName());
    try {
      return seal(recordOf(response));
    } catch (UnrecordableException refused) {
      throw new TransactionMisuseException(String.valueOf(refused.getMessage()));
    }
  }

  private void checkType(String given) {
    procedure()
        .method()
        .flatMap(MethodSchema::response)
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
   * Encrypts an answer once. A second encryption would give other bytes, and a store may compare
   * them.
   */
  synchronized RecordedOutcome seal(RecordedOutcome answer) {
    if (lastSealed.filter(last -> last.answer().equals(answer)).isEmpty()) {
      lastSealed =
          Optional.of(new Sealed(answer, new RecordSeal(request.key(), procedure()).seal(answer)));
    }
    return lastSealed.orElseThrow().kept();
  }
}
