package io.github.grpcidempotency.internal.runtime;

import com.google.common.collect.MapMaker;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.record.RecordSeal;
import io.github.grpcidempotency.internal.schema.FieldPath;
import io.github.grpcidempotency.internal.schema.MethodSchema;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An operation that this process runs: its request, its claim, and the record of its answer.
 * Thread-safe.
 */
public final class Operation {
  private static final Logger logger = LoggerFactory.getLogger(Operation.class);

  /** One for each descriptor, so that servers in one process do not silence each other. */
  private static final ConcurrentMap<Procedure, RateLimitedLog> LOGS =
      new MapMaker().weakKeys().makeMap();

  private final KeyedRequest request;
  private final Claim claim;
  private final CallEvents events;
  private final long begun;
  private final AtomicBoolean lost = new AtomicBoolean();
  private volatile long ended;

  /** Whether the claim is being settled. The settlement finds out whether the claim was lost. */
  volatile boolean settling;

  private Optional<Sealed> lastSealed = Optional.empty();

  private record Sealed(RecordedOutcome answer, RecordedOutcome kept) {}

  public Operation(KeyedRequest request, Claim claim, CallEvents events) {
    this(request, claim, events, System.nanoTime());
  }

  Operation(KeyedRequest request, Claim claim, CallEvents events, long begun) {
    this.request = request;
    this.claim = claim;
    this.events = events;
    this.begun = begun;
    this.ended = begun;
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

  /** Emits, once, the event that the key has another owner. */
  void leaseLost() {
    if (!lost.getAndSet(true)) {
      events.leaseLost(claim.operationId());
    }
  }

  public Procedure procedure() {
    return request.procedure();
  }

  /** Returns the record of a response, not encrypted. */
  RecordedOutcome answerOf(Message response) {
    Optional<ResourceId> resource = resourceId(response);
    return procedure().responseRebuilder().isPresent() && resource.isPresent()
        ? new RecordedOutcome.Reference(resource)
        : new RecordedOutcome.Response(
            FieldPath.without(response, procedure().omittedFields()).toByteString(), resource);
  }

  public boolean namesResource(Message response) {
    return procedure().resourceType().isEmpty() || resourceId(response).isPresent();
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
    } catch (RuntimeException wrong) {
      warnOfMissingId(describe(wrong));
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
  private static String describe(RuntimeException wrong) {
    return "the function threw "
        + wrong.getClass().getName()
        + Arrays.stream(wrong.getStackTrace())
            .filter(frame -> !frame.getClassName().startsWith("java."))
            .filter(frame -> !frame.getClassName().equals(ResourceId.class.getName()))
            .findFirst()
            .map(frame -> " at " + frame)
            .orElse("");
  }

  /**
   * Returns a sentence that states why an answer is too large to be recorded; empty if it is not.
   */
  Optional<String> tooLarge(RecordedOutcome answer) {
    int most = procedure().maxRecordedBytes();
    return answer instanceof RecordedOutcome.Response response && response.bytes().size() > most
        ? Optional.of(
            ("%s: the answer is too large to be recorded: %,d bytes, and maxRecordedBytes is %,d;"
                    + " omit its large fields, rebuild it from its resource, or raise"
                    + " maxRecordedBytes")
                .formatted(procedure().name(), response.bytes().size(), most))
        : Optional.empty();
  }

  /**
   * Returns the form in which the handler's own transaction records a response. Repeated calls with
   * the same response return the same result.
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
