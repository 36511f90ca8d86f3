package io.github.grpcidempotency.internal.runtime;

import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.field.FieldPath;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is recorded for a response. */
public final class RecordedResponse {
  private static final Logger logger = LoggerFactory.getLogger(RecordedResponse.class);

  private RecordedResponse() {}

  /** Returns why an answer is too large to be recorded, as a sentence; empty if it is not. */
  static Optional<String> tooLarge(Procedure procedure, RecordedOutcome answer) {
    return answer instanceof RecordedOutcome.Response response
            && response.bytes().size() > procedure.maxRecordedBytes()
        ? Optional.of(
            ("%s: the answer is too large to be recorded: %,d bytes, and maxRecordedBytes is %,d; omit"
                    + " its large fields, rebuild it from its resource, or raise maxRecordedBytes")
                .formatted(procedure.name(), response.bytes().size(), procedure.maxRecordedBytes()))
        : Optional.empty();
  }

  /** Returns the record of an operation's response, with the resource that it names. */
  static RecordedOutcome of(KeyedRequest request, UUID operationId, Message response) {
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

  private static Optional<UUID> resourceId(
      KeyedRequest request, UUID operationId, Message response) {
    Procedure procedure = request.procedure();
    try {
      return procedure.deletes()
          ? procedure.deletedId(request.message())
          : procedure.resourceId(response);
    } catch (RuntimeException wrong) {
      logger.error(
          "{}: the {} names no resource; operation {} is recorded without one",
          procedure.name(),
          procedure.deletes() ? "request" : "response",
          operationId,
          wrong);
      return Optional.empty();
    }
  }
}
