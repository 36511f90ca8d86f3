package io.github.grpcidempotency.client;

/**
 * Gets the answers to the intents of one method, each at least once. It gets an answer again if the
 * process dies, or this callback throws, before the intent is marked as done. It must tolerate
 * that, and can recognise an answer that it has seen before by its intent.
 *
 * <p>Called on the worker's threads, for several intents at once. It may block; the worker keeps
 * the intent for that time.
 *
 * @param <T> the method's response
 */
public interface IntentCallback<T> {
  /**
   * The service has answered.
   *
   * @throws Exception if the callback should be called again later, with the same answer
   */
  void answered(Intent intent, Reply<T> reply) throws Exception;

  /**
   * There is no answer, and there will be no further attempt: the service has refused the call, or
   * the intent is as old as {@link IntentWorker.Builder#giveUpAfter}. The failure's outcome says
   * what is known.
   *
   * @throws Exception if the callback should be called again later, with the same failure
   */
  void failed(Intent intent, CallFailedException failure) throws Exception;
}
