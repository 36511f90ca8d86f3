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
 * Keeps intents with their requests durably, until an {@link IntentWorker} has finished them. There
 * are two stores: {@link PostgresIntentStore} for services, and {@link FileIntentStore} for
 * command-line tools.
 *
 * <p>The methods that are not public throw an {@link IllegalStateException} for every failure, and
 * may be tried again.
 */
public abstract sealed class IntentStore permits PostgresIntentStore, FileIntentStore {
  IntentStore() {}

  /**
   * Takes intents that are due, for the time of a lease, during which nobody else gets them. They
   * count as sent from then on.
   */
  abstract List<StoredIntent> take(Set<Route> routes, int most, Duration lease);

  /** Restarts the leases of intents that are still being worked on. */
  abstract void renew(Collection<StoredIntent> taken, Duration lease);

  /**
   * Gives an intent back, to be taken again after a delay.
   *
   * @param neverSent whether it is certain that the intent was not sent, neither this time nor
   *     before
   */
  abstract void postpone(StoredIntent taken, Duration delay, boolean neverSent);

  /**
   * Stores an answer until it is handed to the callback.
   *
   * @return whether the intent still belongs to this worker
   */
  abstract boolean answered(StoredIntent taken, ByteString answer, Duration lease);

  /** Deletes an intent whose answer was handed to the callback. */
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
