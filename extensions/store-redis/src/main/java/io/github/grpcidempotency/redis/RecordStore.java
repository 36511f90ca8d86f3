package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.key.IdempotencyKey;
import java.time.Duration;
import java.util.function.Function;

/** The connection, the names and the settings that claims need. Thread-safe. */
record RecordStore(RedisLink link, RecordKey names, SettingsWatch settings, Duration lease) {
  /** Returns the name of a record. */
  byte[] keyOf(IdempotencyKey key) {
    return RecordKey.bytes(names.nameOf(key));
  }

  /** Runs work. Throws every failure of Redis as a {@code StoreException}. */
  <T> T inStore(String what, Function<RedisSession, T> work) {
    try {
      return work.apply(link.session());
    } catch (RedisFailure failure) {
      throw failure.inStore("could not " + what);
    }
  }
}
