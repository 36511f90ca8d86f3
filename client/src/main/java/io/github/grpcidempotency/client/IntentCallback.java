package io.github.grpcidempotency.client;

/**
 * Is handed the answers to the intents of one method, each at least once: again, if the process
 * dies or this throws before the intent is marked as done. What it does with an answer must bear
 * that; the intent tells whether it was here before.
 *
 * <p>Called on the worker's threads, for several intents at once. It may block; the worker keeps
 * the intent for as long.
 *
 * @param <T> the method's response
 */
public interface IntentCallback<T> {
  /**
   * The service has answered.
   *
   * @throws Exception to be called again later, with the same answer
   */
  void answered(Intent intent, Reply<T> reply) throws Exception;

  /**
   * There is no answer, and no further attempt: the service has refused, or it has taken so long
   * that the server may have forgotten the key.
   *
   * @throws Exception to be called again later, with the same failure
   */
  void failed(Intent intent, CallFailedException failure) throws Exception;
}
