package io.github.grpcidempotency.client;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.Optional;

/**
 * An intent that a worker has taken from its store, for the time of a lease.
 *
 * @param request the request as the method's marshaller writes it
 * @param attempts how often it was taken, this time included
 * @param sentBefore whether it may have been sent when it was taken earlier
 * @param sinceSent how long ago it may have been sent first; nothing if it was not
 * @param answer what was answered, if that is known: it is only to be handed on
 * @param fence the number of this taking; only the latest may change the intent
 */
record StoredIntent(
    Intent intent,
    Route route,
    ByteString request,
    int attempts,
    boolean sentBefore,
    Duration sinceSent,
    Optional<ByteString> answer,
    long fence) {}
