package io.github.grpcidempotency.client.intents;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.client.Intent;
import java.time.Duration;
import java.util.Optional;

/**
 * An intent that a worker has taken from its store, for the time of a lease.
 *
 * @param intent the intent, marked as sent before if it was
 * @param request the serialized request
 * @param attempts how often the intent was taken, including this time
 * @param sentBefore whether an earlier worker may have sent it
 * @param age how long ago it was written
 * @param answer the answer, if it is known; then only the callback has to be called
 * @param fence how often the intent was taken or given back; only its last taker may change it
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
