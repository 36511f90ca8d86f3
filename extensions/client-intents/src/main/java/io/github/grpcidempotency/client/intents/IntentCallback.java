package io.github.grpcidempotency.client.intents;

import io.github.grpcidempotency.client.CallFailedException;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.proto.Experimental;

/**
 * Receives the answers to the intents of one method, each at least once. It receives an answer
 * again if the process crashes, or this callback throws, before the intent is deleted. It must
 * tolerate repeated answers, and can recognise them by their intent.
 *
 * <p>Called on the worker's threads, for several intents at once. It may block; meanwhile the
 * worker renews the lease of the intent.
 *
 * @param <T> the method's response type
 */
@Experimental
public interface IntentCallback<T> {
  /**
   * Called when the service has answered.
   *
   * @throws Exception if the callback must be called again later, with the same answer
   */
  void answered(Intent intent, Reply<T> reply) throws Exception;

  /**
   * Called when there is no answer and there will be no further attempt: the service has refused
   * the call, or the intent is as old as {@link IntentWorker.Builder#giveUpAfter}. {@link
   * CallFailedException#outcome} states what is known about the effect.
   *
   * @throws Exception if the callback must be called again later, with the same failure
   */
  void failed(Intent intent, CallFailedException failure) throws Exception;
}
