package io.github.grpcidempotency.grpc;

import com.google.common.util.concurrent.MoreExecutors;
import io.grpc.Context;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The end of a handler whose transaction is bound to a thread, kept for that thread. It settles the
 * end once the handler has returned, because what the host has put around the handler, such as
 * {@code @Transactional}, has ended only then. A handler that has returned without an answer gives
 * it from another thread, and is waited for.
 *
 * <p>The first end counts, and later ones are dropped. Thread-safe.
 */
final class ParkedEnd<ResponseT> implements RecordingCall.Settler<ResponseT> {
  private final RecordingCall.Settler<ResponseT> settler;
  private final Context handlerContext;
  private final Duration patience;
  private final CompletableFuture<Runnable> settlement = new CompletableFuture<>();

  /**
   * Makes a place for an end.
   *
   * @param settler settles it
   * @param handlerContext is current meanwhile, as for the handler
   * @param patience for how long an answer is waited for once its call is cancelled or late
   */
  ParkedEnd(RecordingCall.Settler<ResponseT> settler, Context handlerContext, Duration patience) {
    this.settler = settler;
    this.handlerContext = handlerContext;
    this.patience = patience;
  }

  @Override
  public void closed(RecordingCall.Answer<ResponseT> answer) {
    park(() -> settler.closed(answer));
  }

  @Override
  public void broken(Runnable leaveToGrpc) {
    park(() -> settler.broken(leaveToGrpc));
  }

  @Override
  public void unanswered() {
    park(settler::unanswered);
  }

  /** Waits for no end. */
  void forget() {
    park(() -> {});
  }

  private void park(Runnable end) {
    boolean unused = settlement.complete(end);
  }

  /** Waits for the end, and settles it on the current thread. Called once. */
  void settle() {
    Context.CancellationListener hurry =
        cancelled ->
            settlement.completeOnTimeout(
                settler::unanswered, patience.toMillis(), TimeUnit.MILLISECONDS);
    handlerContext.addListener(hurry, MoreExecutors.directExecutor());
    try {
      handlerContext.run(awaitEnd());
    } finally {
      handlerContext.removeListener(hurry);
    }
  }

  /** A thread that is interrupted is to stop: it waits no longer. */
  private Runnable awaitEnd() {
    try {
      return settlement.get();
    } catch (InterruptedException interrupted) {
      unanswered();
      return () -> {
        try {
          settlement.join().run();
        } finally {
          Thread.currentThread().interrupt();
        }
      };
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
