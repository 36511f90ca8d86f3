package io.github.grpcidempotency.admin.service;

import com.google.protobuf.Timestamp;
import io.github.grpcidempotency.admin.ActResult;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.OperationState;
import io.github.grpcidempotency.admin.Statistics;
import io.github.grpcidempotency.internal.field.ProtobufDurations;
import io.github.grpcidempotency.proto.v1.AuditEntry;
import io.github.grpcidempotency.proto.v1.GetStatisticsResponse;
import io.github.grpcidempotency.proto.v1.RecordedOperation;
import java.time.Instant;

/** Converts the results of the administration to messages of the service. */
final class AdminMessages {
  private AdminMessages() {}

  /** Converts an operation without its key. */
  static RecordedOperation.Builder withoutKey(OperationRecord operation) {
    RecordedOperation.Builder message =
        RecordedOperation.newBuilder()
            .setId(operation.id().toString())
            .setNamespace(operation.namespace())
            .setUserId(operation.userId().toString())
            .setProcedure(operation.procedure())
            .setState(state(operation.state()))
            .setOutcomeUnknown(operation.outcomeUnknown())
            .setAttempt(operation.attempt())
            .setCreateTime(timestamp(operation.created()))
            .setExpireTime(timestamp(operation.expires()))
            .setAnswerBytes(operation.answerBytes())
            .setReadTime(timestamp(operation.read()));
    operation.server().ifPresent(message::setServer);
    operation.trace().ifPresent(message::setTrace);
    operation.leaseExpires().map(AdminMessages::timestamp).ifPresent(message::setLeaseExpireTime);
    operation.completed().map(AdminMessages::timestamp).ifPresent(message::setCompleteTime);
    operation
        .resource()
        .ifPresent(resource -> message.setResource(resource.type() + "/" + resource.id()));
    return message;
  }

  static GetStatisticsResponse statistics(Statistics statistics) {
    GetStatisticsResponse.Builder message =
        GetStatisticsResponse.newBuilder()
            .setRows(statistics.rows())
            .setBytes(statistics.bytes())
            .setExpired(statistics.expired())
            .setExpiredIsMore(statistics.expiredIsMore());
    statistics.inFlight().map(AdminMessages::inFlight).ifPresent(message::setInFlight);
    statistics.sweepLag().map(ProtobufDurations::write).ifPresent(message::setSweepLag);
    return message.build();
  }

  private static GetStatisticsResponse.InFlight inFlight(Statistics.InFlight inFlight) {
    GetStatisticsResponse.InFlight.Builder message =
        GetStatisticsResponse.InFlight.newBuilder()
            .setAll(inFlight.all())
            .setStuck(inFlight.stuck())
            .setUnknown(inFlight.unknown());
    inFlight.oldest().map(ProtobufDurations::write).ifPresent(message::setOldest);
    return message.build();
  }

  static AuditEntry auditEntry(io.github.grpcidempotency.admin.AuditEntry entry) {
    return AuditEntry.newBuilder()
        .setId(entry.id())
        .setActTime(timestamp(entry.at()))
        .setRole(entry.role())
        .setActor(entry.actor())
        .setAct(entry.act())
        .setOperation(entry.operationId().map(Object::toString).orElse(""))
        .setReason(entry.reason())
        .setResult(result(entry.result()))
        .setForced(entry.forced())
        .setDeleted(entry.deleted())
        .setProcedure(entry.procedure().orElse(""))
        .setUserId(entry.userId().map(Object::toString).orElse(""))
        .setAttempt(entry.attempt().orElse(0))
        .build();
  }

  private static AuditEntry.Result result(ActResult result) {
    return switch (result) {
      case DONE -> AuditEntry.Result.RESULT_DONE;
      case NOT_FOUND -> AuditEntry.Result.RESULT_NOT_FOUND;
      case OWNER_LIVES -> AuditEntry.Result.RESULT_OWNER_LIVES;
      case ALREADY_RECORDED -> AuditEntry.Result.RESULT_ALREADY_RECORDED;
      case NOT_RECORDED -> AuditEntry.Result.RESULT_NOT_RECORDED;
      case LOCKED -> AuditEntry.Result.RESULT_LOCKED;
      // A dry run leaves no entry.
      case WOULD_BE_DONE -> AuditEntry.Result.RESULT_UNSPECIFIED;
    };
  }

  private static RecordedOperation.State state(OperationState state) {
    return switch (state) {
      case RUNNING -> RecordedOperation.State.STATE_RUNNING;
      case STUCK -> RecordedOperation.State.STATE_STUCK;
      case UNKNOWN -> RecordedOperation.State.STATE_UNKNOWN;
      case COMPLETED -> RecordedOperation.State.STATE_COMPLETED;
      case FAILED -> RecordedOperation.State.STATE_FAILED;
      case EXPIRED -> RecordedOperation.State.STATE_EXPIRED;
    };
  }

  private static Timestamp timestamp(Instant time) {
    return Timestamp.newBuilder()
        .setSeconds(time.getEpochSecond())
        .setNanos(time.getNano())
        .build();
  }
}
