package io.github.grpcidempotency.internal.record;

import com.google.common.collect.MapMaker;
import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.field.FieldPath;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResourceId;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.ResourceIdType;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates the record of a response. */
public final class RecordedResponse {
  private static final Logger logger = LoggerFactory.getLogger(RecordedResponse.class);

  /** One for each descriptor, so that servers in one process do not silence each other. */
  private static final ConcurrentMap<Procedure, RateLimitedLog> LOGS =
      new MapMaker().weakKeys().makeMap();

  private RecordedResponse() {}

  /**
   * Returns a sentence that states why an answer is too large to be recorded; empty if it is not.
   */
  public static Optional<String> tooLarge(Procedure procedure, RecordedOutcome answer) {
    return answer instanceof RecordedOutcome.Response response
            && response.bytes().size() > procedure.maxRecordedBytes()
        ? Optional.of(
            ("%s: the answer is too large to be recorded: %,d bytes, and maxRecordedBytes is %,d;"
                    + " omit its large fields, rebuild it from its resource, or raise"
                    + " maxRecordedBytes")
                .formatted(procedure.name(), response.bytes().size(), procedure.maxRecordedBytes()))
        : Optional.empty();
  }

  public static RecordedOutcome of(KeyedRequest request, Claim claim, Message response) {
    Procedure procedure = request.procedure();
    Optional<ResourceId> resource = resourceId(request, claim, response);
    return procedure.responseRebuilder().isPresent() && resource.isPresent()
        ? new RecordedOutcome.Reference(resource)
        : new RecordedOutcome.Response(
            withoutOmitted(procedure, response).toByteString(), resource);
  }

  /** Returns a response without the fields that its procedure omits. */
  public static Message withoutOmitted(Procedure procedure, Message response) {
    Message recorded = response;
    for (String path : procedure.omittedFields()) {
      Optional<FieldPath> field = FieldPath.of(response.getDescriptorForType(), path);
      recorded = field.isPresent() ? field.get().without(recorded) : recorded;
    }
    return recorded;
  }

  /** Returns the id of the resource in a response. Logs a warning if a required id is missing. */
  public static Optional<ResourceId> resourceId(
      KeyedRequest request, Claim claim, Message response) {
    Procedure procedure = request.procedure();
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
        warn(procedure, claim.operationId(), missing(procedure, found, claim.resourceIdType()));
      }
      return id;
    } catch (RuntimeException wrong) {
      warn(procedure, claim.operationId(), describe(wrong));
      return Optional.empty();
    }
  }

  private static String missing(
      Procedure procedure, Optional<ResourceId> ofAnotherType, ResourceIdType type) {
    return "the %s contains no id%s"
        .formatted(
            procedure.deletes() ? "request" : "response",
            ofAnotherType.map(id -> " of the type " + type.sqlName()).orElse(""));
  }

  private static void warn(Procedure procedure, UUID operationId, String problem) {
    RateLimitedLog log = LOGS.computeIfAbsent(procedure, any -> RateLimitedLog.of(logger));
    log.warn(
        problem,
        null,
        "%s: cannot read the id of its resource: %s. Operation %s is recorded without a reference%s"
            .formatted(
                procedure.name(),
                problem,
                operationId,
                procedure.statusSource().isPresent()
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
}
