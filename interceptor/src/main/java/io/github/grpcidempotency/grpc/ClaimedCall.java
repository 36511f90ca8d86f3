package io.github.grpcidempotency.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.decision.Outcome;
import io.github.grpcidempotency.decision.OutcomeDecider;
import io.github.grpcidempotency.decision.Refusal;
import io.github.grpcidempotency.decision.Settlement;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call that owns its key: keeps the lease while the handler runs, and settles when it has ended.
 * What is settled is persisted first and sent then, so no client ever sees an answer that a retry
 * would not get.
 */
final class ClaimedCall<RequestT, ResponseT> implements RecordingCall.Settler<ResponseT> {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  private final Engine engine;
  private final Claim claim;
  private final Procedure procedure;
  private final ServerCall<RequestT, ResponseT> call;
  private final RecordingCall<RequestT, ResponseT> recording;

  ClaimedCall(Engine engine, Claim claim, ServerCall<RequestT, ResponseT> call) {
    this.engine = engine;
    this.claim = claim;
    this.procedure = claim.request().procedure();
    this.call = call;
    this.recording = new RecordingCall<>(call, this);
  }

  /** Begins to keep the lease, and returns the call for the handler. */
  ServerCall<RequestT, ResponseT> start() {
    engine.leases().hold(claim, recording);
    engine.tell(events -> events.claimed(procedure.name(), claim.operationId()));
    return recording;
  }

  /** The handler threw: gRPC answers with {@code UNKNOWN}, whatever it was. */
  void handlerThrew() {
    if (recording.abandon()) {
      persist(() -> settleFailure(Status.UNKNOWN, new Metadata()));
    }
  }

  @Override
  public void broken() {
    persist(() -> settleFailure(Status.INTERNAL, new Metadata()));
  }

  @Override
  public void closed(RecordingCall.Answer<ResponseT> answer) {
    if (answer.status().isOk() && answer.message().isPresent()) {
      persist(() -> settleResponse(answer, answer.message().get()));
    } else {
      // OK without a message is INTERNAL: gRPC itself says so when the call is closed.
      Status failure = answer.status().isOk() ? Status.INTERNAL : answer.status();
      persist(() -> settleFailure(failure, answer.trailers()));
      call.close(answer.status(), answer.trailers());
    }
  }

  private void settleResponse(RecordingCall.Answer<ResponseT> answer, ResponseT message) {
    RecordedOutcome outcome = new RecordedOutcome.Response(serialize(message), resourceId(message));
    try {
      switch (settle(Settlement.COMPLETE, () -> claim.complete(outcome))) {
        case DONE ->
            Answering.send(call, answer, claim.operationId(), claim.expires(), firstStatus());
        case LOST -> refuse();
        case ROLLED_BACK -> Answering.rolledBack(call);
      }
    } catch (StoreException unknown) {
      onUnknown(outcome, unknown);
      refuse();
    } catch (IllegalStateException misuse) {
      engine.leases().drop(claim);
      logger.error("{}: {}", procedure.name(), misuse.getMessage(), misuse);
      call.close(Status.INTERNAL.withDescription(misuse.getMessage()), new Metadata());
    }
  }

  /** The effect of a reservation has happened, so its record must follow; a commit decides both. */
  private void onUnknown(RecordedOutcome outcome, StoreException unknown) {
    if (claim.transaction().isPresent()) {
      engine.leases().drop(claim);
      logger.warn(
          "it is not known whether operation {} was committed; a retry will tell",
          claim.operationId(),
          unknown);
    } else {
      engine.lateRecorder().record(claim, outcome, unknown);
    }
  }

  private IdempotencyStatus firstStatus() {
    return procedure.statusResolver().isPresent()
        ? IdempotencyStatus.PROCESSING
        : IdempotencyStatus.COMPLETED;
  }

  private void settleFailure(Status status, Metadata trailers) {
    Settlement settlement =
        OutcomeDecider.decide(
            new Outcome.Failed(
                Code.forNumber(status.getCode().value()),
                IdempotencyMetadata.removeTerminalMark(trailers)),
            procedure.failurePolicy());
    try {
      switch (settlement) {
        case COMPLETE -> throw new AssertionError("a failure is not completed as a response");
        case COMPLETE_WITH_ERROR -> {
          RecordedOutcome outcome =
              TerminalError.record(status, trailers, procedure.failurePolicy());
          settle(settlement, () -> claim.complete(outcome));
        }
        case RELEASE -> settle(settlement, claim::release);
        case HOLD -> settle(settlement, claim::hold);
      }
    } catch (StoreException | IllegalStateException unsettled) {
      engine.leases().drop(claim);
      logger.warn(
          "could not settle operation {}; its key is free once the lease ends",
          claim.operationId(),
          unsettled);
    }
  }

  private Settled settle(Settlement settlement, Supplier<Settled> write) {
    Settled settled = write(write);
    engine.leases().drop(claim);
    switch (settled) {
      case DONE ->
          engine.tell(events -> events.settled(procedure.name(), claim.operationId(), settlement));
      case LOST -> {
        logger.warn("operation {} was taken over before it was settled", claim.operationId());
        engine.tell(events -> events.leaseLost(claim.operationId()));
      }
      case ROLLED_BACK -> logger.warn("operation {} was rolled back", claim.operationId());
    }
    return settled;
  }

  /** A defect of the store is an outage to us: nothing is known of the deed. */
  private static Settled write(Supplier<Settled> write) {
    try {
      return write.get();
    } catch (StoreException | IllegalStateException foreseen) {
      throw foreseen;
    } catch (RuntimeException defect) {
      throw new StoreException("the store has a defect", defect);
    }
  }

  /** Asks the client to come again: the answer is not recorded yet, or it is another owner's. */
  private void refuse() {
    Refusal refusal = Refusal.inProgress(engine.lease());
    engine.tell(events -> events.refused(procedure.name(), refusal.reason()));
    Answering.refuse(call, refusal, engine.keyName());
  }

  /** Runs store work beyond the reach of the call's cancellation and deadline. */
  private static void persist(Runnable work) {
    Context.current().fork().run(work);
  }

  private ByteString serialize(ResponseT message) {
    try (InputStream bytes = call.getMethodDescriptor().streamResponse(message)) {
      return ByteString.readFrom(bytes);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private Optional<UUID> resourceId(ResponseT message) {
    try {
      return procedure.resourceId((Message) message);
    } catch (RuntimeException wrong) {
      logger.error(
          "{}: the response names no resource; operation {} is recorded without one",
          procedure.name(),
          claim.operationId(),
          wrong);
      return Optional.empty();
    }
  }
}
