package io.github.grpcidempotency.grpc;

import com.google.common.collect.ImmutableList;
import com.google.protobuf.Message;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.decision.KeyDecider;
import io.github.grpcidempotency.internal.decision.KeyDecision;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.wire.WireMetadata;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.KeyCall;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.key.MalformedKeyException;
import io.github.grpcidempotency.key.UnauthenticatedKeyException;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.StoreException;
import io.grpc.Metadata;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks for one call's key where its procedure says, and decides how the call goes on. */
final class KeyFinder {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  private final Procedure procedure;
  private final Optional<Caller> caller;
  private final Metadata headers;
  private final Engine engine;
  private final KeySource source;

  KeyFinder(
      Procedure procedure,
      String keyHeader,
      Optional<Caller> caller,
      Metadata headers,
      Engine engine) {
    this.procedure = procedure;
    this.caller = caller;
    this.headers = headers;
    this.engine = engine;
    this.source =
        procedure
            .keySource()
            .filter(given -> procedure.keyPolicy() != KeyPolicy.PROHIBITED)
            .orElseGet(() -> KeySource.metadata(keyHeader).as(procedure.keyFormat()));
  }

  /** Returns whether the decision needs the request. */
  boolean readsRequest() {
    return procedure.keyPolicy() != KeyPolicy.HANDLER_INTERNAL && source.readsRequest();
  }

  /** Decides without the request. */
  KeyDecision decide() {
    return heard(decide(Optional.empty()));
  }

  /** Decides with the request. */
  KeyDecision decide(Message request) {
    return heard(decide(Optional.of(request)));
  }

  private KeyDecision heard(KeyDecision decision) {
    if (decision instanceof KeyDecision.NoCaller) {
      engine.unprotected(procedure, UnprotectedCause.NO_CALLER, null);
    }
    return decision;
  }

  private KeyDecision decide(Optional<Message> request) {
    if (procedure.keyPolicy() == KeyPolicy.HANDLER_INTERNAL) {
      return new KeyDecision.Unkeyed();
    }
    Optional<FoundKey> key;
    try {
      key = source.find(new Call(request));
    } catch (MalformedKeyException malformed) {
      logger.debug("{}: {}", procedure.name(), malformed.getMessage());
      if (procedure.keyPolicy() == KeyPolicy.PROHIBITED) {
        return new KeyDecision.Refuse(Refusal.keyProhibited(), source.name());
      }
      return caller.isEmpty() && procedure.keyPolicy() == KeyPolicy.OPTIONAL
          ? new KeyDecision.NoCaller()
          : new KeyDecision.Refuse(Refusal.invalidKey(), malformed.keyName().orElse(source.name()));
    } catch (UnauthenticatedKeyException unproven) {
      logger.debug("{}: {}", procedure.name(), unproven.getMessage());
      return new KeyDecision.Refuse(Refusal.callerRequired(), source.name());
    } catch (StoreException unreachable) {
      engine
          .log()
          .warn(
              procedure.name() + " key",
              unreachable,
              procedure.name() + ": the key could not be looked up");
      return new KeyDecision.Refuse(Refusal.storeUnavailable(), source.name());
    }
    return KeyDecider.decide(procedure.keyPolicy(), key, caller, source.name());
  }

  private final class Call implements KeyCall {
    private final Optional<Message> request;

    Call(Optional<Message> request) {
      this.request = request;
    }

    @Override
    public String procedure() {
      return procedure.name();
    }

    @Override
    public Optional<Caller> caller() {
      return caller;
    }

    @Override
    public List<String> metadata(String name) {
      Iterable<String> values = headers.getAll(WireMetadata.ascii(name));
      return values == null ? List.of() : ImmutableList.copyOf(values);
    }

    @Override
    public Message request() {
      return request.orElseThrow(
          () ->
              new IllegalStateException("the key's source did not say that it reads the request"));
    }
  }
}
