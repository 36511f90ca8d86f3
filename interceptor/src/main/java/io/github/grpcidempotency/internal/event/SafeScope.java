package io.github.grpcidempotency.internal.event;

import com.google.common.base.Throwables;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.event.CallScope;
import io.github.grpcidempotency.spi.ClaimRequest;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The scopes of all listeners, nested in each other. An action runs exactly once within them, even
 * if a scope fails, and only exceptions of the action itself reach the caller. Thread-safe if the
 * scopes are.
 *
 * @param ignored receives the exceptions of scopes
 */
record SafeScope(List<CallScope> scopes, Consumer<Throwable> ignored) {
  /** A scope without a context. */
  static final SafeScope NONE = new SafeScope(List.of(), thrown -> {});

  void run(Runnable action) {
    run(0, action);
  }

  /** Returns the trace of the first scope that has one. */
  Optional<ByteString> trace() {
    for (CallScope scope : scopes) {
      try {
        Optional<ByteString> trace = scope.trace();
        if (trace.filter(bytes -> bytes.size() <= ClaimRequest.MAX_TRACE).isPresent()) {
          return trace;
        }
      } catch (Throwable thrown) {
        ignored.accept(thrown);
      }
    }
    return Optional.empty();
  }

  private void run(int depth, Runnable action) {
    if (depth == scopes.size()) {
      action.run();
      return;
    }
    Once inner = new Once(() -> run(depth + 1, action));
    try {
      scopes.get(depth).run(inner);
    } catch (Throwable thrown) {
      if (inner.thrown.filter(own -> own == thrown).isEmpty()) {
        ignored.accept(thrown);
      }
    }
    inner.run();
    inner.rethrow();
  }

  /** Runs an action only the first time, and keeps its exception. */
  private static final class Once implements Runnable {
    private final AtomicBoolean begun = new AtomicBoolean();
    private final Runnable action;
    private volatile Optional<Throwable> thrown = Optional.empty();

    Once(Runnable action) {
      this.action = action;
    }

    @Override
    public void run() {
      if (!begun.getAndSet(true)) {
        try {
          action.run();
        } catch (Throwable failure) {
          thrown = Optional.of(failure);
          throw failure;
        }
      }
    }

    void rethrow() {
      thrown.ifPresent(Throwables::throwIfUnchecked);
    }
  }
}
