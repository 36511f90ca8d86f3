package io.github.grpcidempotency.client;

import com.google.protobuf.ByteString;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * Keeps intents with their requests, durably, until an {@link IntentWorker} has driven them to
 * their end. There are two: {@link PostgresIntentStore}, for services, and {@link FileIntentStore},
 * for command-line tools.
 *
 * <p>Whatever fails in the methods that are not public is an {@link IllegalStateException}, and may
 * be tried again.
 */
public abstract sealed class IntentStore permits PostgresIntentStore, FileIntentStore {
  IntentStore() {}

  /**
   * Takes intents that are due, for the time of a lease, in which nobody else gets them. They count
   * as sent from now on.
   */
  abstract List<StoredIntent> take(Set<Route> routes, int most, Duration lease);

  /** Lets the leases of intents that are still worked on begin anew. */
  abstract void renew(Collection<StoredIntent> taken, Duration lease);

  /**
   * Gives an intent back, to be taken again after a delay.
   *
   * @param neverSent whether it is certain that it was not sent, this time nor before
   */
  abstract void postpone(StoredIntent taken, Duration delay, boolean neverSent);

  /**
   * Keeps an answer until it is handed on.
   *
   * @return whether the intent is still this worker's
   */
  abstract boolean answered(StoredIntent taken, ByteString answer, Duration lease);

  /** Forgets an intent whose answer was handed on. */
  abstract void done(StoredIntent taken);

  /** Returns whether intents for these routes are left, whoever works on them. */
  abstract boolean hasAny(Set<Route> routes);

  static <RequestT> ByteString bytes(MethodDescriptor<RequestT, ?> method, RequestT request) {
    try (InputStream bytes = method.streamRequest(request)) {
      return ByteString.readFrom(bytes);
    } catch (IOException impossible) {
      throw new IllegalStateException("the request cannot be written", impossible);
    }
  }

  static Route route(String target, MethodDescriptor<?, ?> method) {
    RetryingCaller.requireKeyed(method);
    return new Route(target, method.getFullMethodName());
  }
}
