package io.github.grpcidempotency.grpc;

import io.grpc.Context;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

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
  private final CompletableFuture<Runnable> settlement = new CompletableFuture<>();

  /**
   * Makes a place for an end.
   *
   * @param settler settles it
   * @param handlerContext is current meanwhile, as for the handler
   */
  ParkedEnd(RecordingCall.Settler<ResponseT> settler, Context handlerContext) {
    this.settler = settler;
    this.handlerContext = handlerContext;
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
  public String subject() {
    return settler.subject();
  }

  @Override
  public String consequence() {
    return settler.consequence();
  }

  @Override
  public void unanswered() {
    boolean unused = giveUp();
  }

  /** Returns whether the handler had not answered, so that nothing waits for its answer. */
  boolean giveUp() {
    return settlement.complete(settler::unanswered);
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
    handlerContext.run(awaitEnd());
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
