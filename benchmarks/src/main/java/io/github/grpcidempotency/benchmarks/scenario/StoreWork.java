package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.NumberedRecords;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.Projects;
import io.github.grpcidempotency.benchmarks.load.StoreCalls;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/** What callers do with a table of {@link NumberedRecords}. */
enum StoreWork {
  CREATE_ORDERED("transactional, UUIDv7 keys"),
  CREATE_RANDOM("transactional, UUIDv4 keys"),
  RESERVE_ORDERED("reserved, UUIDv7 keys"),
  RESERVE_RANDOM("reserved, UUIDv4 keys"),
  REPLAY_ANY("replay of any record"),
  REPLAY_NEW("replay of one of the newest 1,000");

  private static final long NEWEST = 1_000;

  private final String label;

  StoreWork(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }

  /** Returns the work on a table in which so many records have expired, before so many others. */
  Operation on(
      StoreCalls calls, Projects projects, NumberedRecords records, long expired, long live) {
    return switch (this) {
      case CREATE_ORDERED ->
          calls.creates(Variant.TRANSACTIONAL, keys(UuidCreator::getTimeOrderedEpoch), projects);
      case CREATE_RANDOM -> calls.creates(Variant.TRANSACTIONAL, keys(UUID::randomUUID), projects);
      case RESERVE_ORDERED ->
          calls.creates(
              Variant.RESERVED_SAME_DATABASE, keys(UuidCreator::getTimeOrderedEpoch), projects);
      case RESERVE_RANDOM ->
          calls.creates(Variant.RESERVED_SAME_DATABASE, keys(UUID::randomUUID), projects);
      case REPLAY_ANY -> calls.replays(() -> records.key(expired + 1 + random(live)));
      case REPLAY_NEW ->
          calls.replays(() -> records.key(expired + live - random(Math.min(live, NEWEST))));
    };
  }

  private static Supplier<IdempotencyKey> keys(Supplier<UUID> uuids) {
    return () ->
        new IdempotencyKey(
            NumberedRecords.caller(ThreadLocalRandom.current()), uuids.get().toString());
  }

  private static long random(long bound) {
    return ThreadLocalRandom.current().nextLong(bound);
  }
}
