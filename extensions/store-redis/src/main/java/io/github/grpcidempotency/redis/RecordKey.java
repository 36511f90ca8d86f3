package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.key.IdempotencyKey;
import java.nio.charset.StandardCharsets;

/**
 * The names of records. A name is the prefix, the user's id and the key as it is stored, namespace
 * first. The id has a fixed length, and a namespace has no colon, so two operations never have one
 * name. The braces are a hash tag: a cluster keeps what belongs to one operation in one slot.
 */
record RecordKey(String prefix) {
  /** Returns the name of a record, and of the channel on which its end is published. */
  String nameOf(IdempotencyKey key) {
    return prefix + ":{" + key.caller().userId() + ":" + key.stored() + "}";
  }

  /** Returns the channel that is published to before replicas are waited for. */
  String barrier() {
    return prefix + ":barrier";
  }

  /** Returns the name of the hash whose field {@code name} says which shard the server is. */
  String shard() {
    return prefix + ":shard";
  }

  static byte[] bytes(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }
}
