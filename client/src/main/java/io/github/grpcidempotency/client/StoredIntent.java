package io.github.grpcidempotency.client;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.Optional;

/**
 * An intent that a worker has taken from its store, for the time of a lease.
 *
 * @param intent says that it was sent before if it was
 * @param request the request as the method's marshaller writes it
 * @param attempts how often it was taken, this time included
 * @param sentBefore whether it may have been sent when it was taken earlier
 * @param age how long ago it was written
 * @param answer the answer, if it is known: then only the callback is left to do
 * @param fence counts how often the intent was taken; only the latest taker may change it
 */
record StoredIntent(
    Intent intent,
    Route route,
    ByteString request,
    int attempts,
    boolean sentBefore,
    Duration age,
    Optional<ByteString> answer,
    long fence) {
  StoredIntent {
    intent = sentBefore ? intent.sentBefore() : intent;
  }
}
