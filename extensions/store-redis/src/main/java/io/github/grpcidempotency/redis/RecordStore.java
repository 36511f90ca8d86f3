package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.spi.ClaimResult;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

/** The connection, the names and the settings that claims need. Thread-safe. */
record RecordStore(RedisLink link, RecordKey names, SettingsWatch settings, Duration lease) {
  byte[] keyOf(IdempotencyKey key) {
    return RecordReply.bytes(names.nameOf(key));
  }

  /** Returns a record, which the replicas must have, or a reservation; empty if there is none. */
  static Optional<ClaimResult> find(RedisSession session, byte[] key) {
    if (!(RecordReply.of(session.run(Script.FIND, key)) instanceof RecordReply.Seen seen)) {
      return Optional.empty();
    }
    if (seen.result() instanceof ClaimResult.Recorded) {
      session.confirm();
    }
    return Optional.of(seen.result());
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
