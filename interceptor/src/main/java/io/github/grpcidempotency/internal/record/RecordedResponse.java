package io.github.grpcidempotency.internal.record;

import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.field.FieldPath;
import io.github.grpcidempotency.internal.field.NoUuidException;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.LoggerFactory;

/** Creates the record of a response. */
public final class RecordedResponse {
  private static final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(RecordedResponse.class));

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

  /** Returns the record of an operation's response, with the id of the resource. */
  public static RecordedOutcome of(KeyedRequest request, UUID operationId, Message response) {
    Procedure procedure = request.procedure();
    Optional<UUID> resource = resourceId(request, operationId, response);
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
  public static Optional<UUID> resourceId(
      KeyedRequest request, UUID operationId, Message response) {
    Procedure procedure = request.procedure();
    if (procedure.resourceType().isEmpty()) {
      return Optional.empty();
    }
    Optional<UUID> id;
    String problem =
        procedure.deletes() ? "the request contains no UUID" : "the function returned null";
    try {
      id =
          procedure.deletes()
              ? procedure.deletedId(request.message())
              : procedure.resourceId(response);
    } catch (RuntimeException wrong) {
      id = Optional.empty();
      problem = describe(wrong);
    }
    if (id.isEmpty()) {
      warn(procedure, operationId, problem);
    }
    return id;
  }

  private static void warn(Procedure procedure, UUID operationId, String problem) {
    log.warn(
        procedure.name() + " " + problem,
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
    return wrong instanceof NoUuidException known
        ? String.valueOf(known.getMessage())
        : "the function threw "
            + wrong.getClass().getName()
            + Arrays.stream(wrong.getStackTrace())
                .filter(frame -> !frame.getClassName().startsWith("java."))
                .findFirst()
                .map(frame -> " at " + frame)
                .orElse("");
  }
}
