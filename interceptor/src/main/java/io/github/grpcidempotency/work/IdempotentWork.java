package io.github.grpcidempotency.work;

import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.call.internal.KeyedCall;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.engine.Engine;
import io.github.grpcidempotency.internal.engine.EngineSettings;
import io.github.grpcidempotency.internal.engine.Engines;
import io.github.grpcidempotency.internal.engine.Setup;
import io.github.grpcidempotency.internal.engine.Stores;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.event.DecisionLog;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.internal.record.KeyTexts;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.waiting.WaitLimits;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.proto.Experimental;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.IdempotencyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

/**
 * Runs work once per token, with the same leases, fencing tokens, transactions and replays as
 * calls. Use it for a scheduler that may start a run twice, for a consumer that may get a message
 * twice, or for a handler of a {@code HANDLER_INTERNAL} procedure. As for calls, the execution of
 * the procedure decides whether the work runs again after a crash between effect and record.
 *
 * <p>Work always fails closed: it does not run while the store cannot be reached. The procedure's
 * key policy and key source have no effect. Work that is claimed at its commit and is preempted
 * starts over, and its first result or exception is dropped. Within the work, the transaction of a
 * transactional procedure and {@code TransactionalCompletion} work as in a handler. Thread-safe.
 * Blocks: the work runs on the calling thread.
 *
 * <p>Work has no time limit. Its lease is renewed, and its transaction stays open, until the work
 * returns or throws.
 */
public final class IdempotentWork implements AutoCloseable {
  /** The name of the key in errors and events. */
  private static final String TOKEN = "token";

  /** The limit applies only to calls; work has no time limit. */
  private static final Duration NO_LIMIT = Duration.ZERO;

  private final Engines engines;

  private IdempotentWork(Builder builder) {
    this.engines =
        new Engines(
            builder.stores,
            new EngineSettings(
                new Listeners(builder.listeners),
                new DecisionLog(builder.keyHashSecret),
                NO_LIMIT,
                WaitLimits.DEFAULT,
                DaemonThreads.pool()));
  }

  public static Builder builder(IdempotencyStore store, Procedure... kinds) {
    return new Builder(Stores.of(store), kinds);
  }

  /** Returns a builder for work whose callers are on several databases. */
  @Experimental
  public static Builder builder(Shards shards, Procedure... kinds) {
    return new Builder(Stores.of(shards), kinds);
  }

  /**
   * Runs a piece of work, or returns the recorded result of an earlier run. If the calling thread
   * has an open transaction of the host when the work ends, the result is recorded after its
   * commit, and the token is free again after its rollback.
   *
   * @param kind the procedure of the work; its retention, execution and policies apply
   * @param caller the user on whose behalf it runs
   * @param token identifies the operation for its caller, such as a message's id, or the name of a
   *     job and the time at which it was due; tokens and the keys of the caller's calls are in the
   *     same namespace. If the procedure is that of a method, and the token is a value that its
   *     clients can send as the key, the work is the same operation as their calls
   * @param input the input of the work; the same token with another input is refused
   * @throws WorkRefusedException if there is no result: the work is running elsewhere, its result
   *     could not be recorded yet, the input differs, the store cannot be reached, or the guard
   *     denies the replay
   * @throws IllegalArgumentException if the token is not {@linkplain IdempotencyKey#problemOf
   *     usable as a key}
   * @throws WorkFailedException if the work throws it, or threw it in an earlier run that was
   *     recorded
   * @throws Exception if the work throws any other exception; the token is then free again
   */
  public <T extends Message> WorkResult<T> run(
      Procedure kind,
      Caller caller,
      String token,
      Message input,
      Parser<T> results,
      Callable<T> work)
      throws Exception {
    IdempotencyKey key = new IdempotencyKey(caller, textOf(kind, token));
    Optional<Engine> engine = engines.of(Optional.of(caller));
    CallEvents events =
        engines.events(kind, Entry.WORK).of(key, TOKEN).onShard(engine.flatMap(Engine::shard));
    if (engine.isEmpty()) {
      events.keyFound();
      events.refused(Refusal.noShard(), Optional.empty(), null);
      throw new WorkRefusedException(Refusal.noShard());
    }
    KeyedRequest request = KeyedRequest.of(key, kind, input, events.trace(), false);
    WorkTransport<T> transport = new WorkTransport<>(kind, results, work);
    return transport.serve(
        new KeyedCall(transport, engine.get(), engines.drain(), events, request, TOKEN));
  }

  private static String textOf(Procedure kind, String token) {
    return kind.method()
        .flatMap(method -> KeyTexts.of(kind, token).stream().findFirst())
        .orElse(token);
  }

  /** Stops renewing leases and recording results in the background. */
  @Override
  public void close() {
    engines.close();
  }

  /** The settings of an {@code IdempotentWork}. Not thread-safe. */
  public static final class Builder {
    private final Stores stores;
    private final Procedure[] kinds;
    private final List<IdempotencyListener> listeners = new ArrayList<>();
    private Optional<byte[]> keyHashSecret = Optional.empty();

    private Builder(Stores stores, Procedure... kinds) {
      this.stores = stores;
      this.kinds = kinds.clone();
    }

    /**
     * Adds a listener for events. Listeners are called in the order in which they were added. There
     * is none by default.
     */
    public Builder listener(IdempotencyListener listener) {
      this.listeners.add(listener);
      return this;
    }

    /**
     * Adds {@code key_hash} to the lines of the log {@code io.github.grpcidempotency.decision}, as
     * {@link io.github.grpcidempotency.grpc.IdempotencyInterceptor.Builder#keyHashSecret} does.
     *
     * @param secret at least 16 bytes
     * @throws IllegalArgumentException if the secret is shorter
     */
    public Builder keyHashSecret(byte[] secret) {
      this.keyHashSecret = Optional.of(DecisionLog.checkSecret(secret));
      return this;
    }

    /**
     * Checks the procedures and the stores, and returns the {@code IdempotentWork}. Close it when
     * the last work has ended.
     *
     * @throws io.github.grpcidempotency.store.SetupException if anything is wrong; it lists every
     *     problem
     * @throws io.github.grpcidempotency.store.StoreException if the store cannot be reached
     */
    public IdempotentWork build() {
      Setup.check(Procedures.of(kinds), Optional.of(stores));
      IdempotentWork work = new IdempotentWork(this);
      work.engines.start();
      return work;
    }
  }
}
