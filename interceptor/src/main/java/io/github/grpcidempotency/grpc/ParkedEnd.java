package io.github.grpcidempotency.grpc;

import io.grpc.Context;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Keeps the end of a handler whose transaction is bound to a thread, until that thread can settle
 * it. The end is settled after the handler has returned, because code that the host has put around
 * the handler, such as {@code @Transactional}, has ended only then. If the handler returned without
 * an answer, the thread waits until the handler answers on another thread.
 *
 * <p>The first end counts, and later ends are dropped. Thread-safe.
 */
final class ParkedEnd<ResponseT> implements RecordingCall.Settler<ResponseT> {
  private final RecordingCall.Settler<ResponseT> settler;
  private final Context handlerContext;
  private final CompletableFuture<Runnable> settlement = new CompletableFuture<>();

  /**
   * Creates the object for one handler.
   *
   * @param settler settles the end
   * @param handlerContext the context that is current during the settlement
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

  /** Stops waiting for the handler's answer. Returns whether the handler had not answered. */
  boolean giveUp() {
    return settlement.complete(settler::unanswered);
  }

  /** Stops waiting for an end. */
  void forget() {
    park(() -> {});
  }

  private void park(Runnable end) {
    boolean unused = settlement.complete(end);
  }

  /** Waits for the end and settles it on the current thread. Called once. */
  void settle() {
    handlerContext.run(awaitEnd());
  }

  /** An interrupt ends the wait. */
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
