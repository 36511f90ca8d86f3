package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.key.IdempotencyKey;

/**
 * The names of records in Redis. A name consists of the prefix, the user's id and the stored key,
 * which begins with its namespace. The id has a fixed length, and a namespace has no colon, so two
 * operations never have the same name. The braces are a hash tag: a cluster keeps all data of one
 * operation in one slot.
 */
record RecordKey(String prefix) {
  /** Returns the name of a record. */
  String nameOf(IdempotencyKey key) {
    return prefix + ":{" + key.caller().userId() + ":" + key.stored() + "}";
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
