package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The names of records in Redis. A name consists of the prefix, the user's id, the tenant, the
 * project and the key. Tenant and project are encoded as in a URL, and so contain neither a slash
 * nor a colon, so two operations never have the same name. The braces are a hash tag: a cluster
 * keeps all data of one operation in one slot.
 */
record RecordKey(String prefix) {
  /** Returns the name of a record. */
  String nameOf(IdempotencyKey key) {
    Caller caller = key.caller();
    return "%s:{%s:%s/%s:%s}"
        .formatted(
            prefix,
            caller.userId(),
            encoded(caller.tenant()),
            encoded(caller.project()),
            key.value());
  }

  private static String encoded(Optional<String> name) {
    return URLEncoder.encode(name.orElse(""), StandardCharsets.UTF_8);
  }

  /** Returns the channel for the message that precedes a {@code WAIT} for replicas. */
  String barrier() {
    return prefix + ":barrier";
  }

  /** Returns the name of the hash whose field {@code name} contains the shard's name. */
  String shard() {
    return prefix + ":shard";
  }
}
