package io.github.grpcidempotency.grpc;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.KeyedRequest;
import io.github.grpcidempotency.internal.runtime.Replay;
import io.github.grpcidempotency.internal.wire.TerminalError;
import io.github.grpcidempotency.store.ClaimResult;
import io.grpc.Context;
import io.grpc.KnownLength;
import io.grpc.ServerCall;
import java.io.FilterInputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/** A call whose key has a record. It gets the recorded answer, or an error that states why not. */
final class ReplayedCall<ResponseT> implements Replay.Actor<RuntimeException> {
  /**
   * Reports its length to gRPC, which otherwise allocates a buffer of four kilobytes for each read.
   */
  private static final class KnownBytes extends FilterInputStream implements KnownLength {
    KnownBytes(ByteString bytes) {
      super(bytes.newInput());
    }
  }

  private final Engine engine;
  private final KeyedRequest request;
  private final ClaimResult.Recorded recorded;
  private final UUID operationId;
  private final String keyName;
  private final ServerCall<?, ResponseT> call;
  private final CallEvents events;
  private final Duration claimTook;

  ReplayedCall(
      Engine engine,
      KeyedRequest request,
      ClaimResult.Recorded recorded,
      String keyName,
      ServerCall<?, ResponseT> call,
      CallEvents events,
      Duration claimTook) {
    this.engine = engine;
    this.request = request;
    this.recorded = recorded;
    this.operationId = recorded.operationId();
    this.keyName = keyName;
    this.call = call;
    this.events = events;
    this.claimTook = claimTook;
  }

  /**
   * Answers the call.
   *
   * @param context is current while the guard and the rebuilder run
   */
  void answer(Context context) {
    replay(context).accept(this);
  }

  private Replay replay(Context context) {
    Context before = context.attach();
    try {
      return Replay.of(
          request.procedure(),
          request.key(),
          recorded,
          failure -> events.statusUnknown(operationId, failure));
    } finally {
      context.detach(before);
    }
  }

  @Override
  public void response(Replay.Response response) {
    read(() -> call.getMethodDescriptor().parseResponse(new KnownBytes(response.bytes())))
        .ifPresent(
            message -> ResponseWriter.replay(call, message, response, operationId, replayed()));
  }

  @Override
  public void failure(ByteString bytes) {
    read(() -> TerminalError.of(bytes))
        .ifPresent(
            error -> {
              Instant unused = replayed();
              ResponseWriter.replay(call, error, operationId);
            });
  }

  @Override
  public void refused(Replay.Refused refused) {
    events.refused(refused.refusal(), Optional.of(operationId), refused.why().orElse(null));
    ResponseWriter.refuse(call, refused.refusal(), keyName);
  }

  /** Reads the recorded answer. If it cannot be read, the call is refused. */
  private <T> Optional<T> read(Supplier<T> reader) {
    try {
      return Optional.of(reader.get());
    } catch (RuntimeException unreadable) {
      refused(Replay.unreadable(unreadable));
      return Optional.empty();
    }
  }

  /** Returns when the record that is about to be replayed expires. */
  private Instant replayed() {
    events.replayed(recorded, claimTook);
    return engine.retain(request, recorded, events);
  }
}
