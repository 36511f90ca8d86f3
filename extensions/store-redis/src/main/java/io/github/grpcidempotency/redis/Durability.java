package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.proto.Experimental;
import java.util.Locale;
import java.util.OptionalInt;

/**
 * The failures that a reservation or an answer must survive before the store considers it written.
 * The store checks the server's settings at start-up, and refuses a server with weaker settings.
 * Immutable.
 *
 * <p>The default is {@link #everyWrite}. Weaker levels have to be chosen explicitly.
 */
@Experimental
public final class Durability {
  /** The server's persistence before it answers. */
  enum Persistence {
    EVERY_WRITE,
    EVERY_SECOND,
    IN_MEMORY,
    AS_OPERATED
  }

  private final Persistence persistence;
  private final OptionalInt replicas;

  private Durability(Persistence persistence, OptionalInt replicas) {
    this.persistence = persistence;
    this.replicas = replicas;
  }

  /**
   * The server flushes every write to its disk before it answers: {@code appendonly yes}, {@code
   * appendfsync always}, {@code no-appendfsync-on-rewrite no}. A crash of the server or of its
   * machine loses nothing.
   */
  public static Durability everyWrite() {
    return new Durability(Persistence.EVERY_WRITE, OptionalInt.empty());
  }

  /**
   * The server flushes once a second: {@code appendonly yes}. A crash of the machine, and sometimes
   * a crash of the server alone, loses the last one or two seconds: calls that were answered or
   * running at that time run again.
   */
  public static Durability everySecond() {
    return new Durability(Persistence.EVERY_SECOND, OptionalInt.empty());
  }

  /**
   * The server may keep everything in memory only. A crash or restart loses every record: calls
   * that were answered or running run again.
   */
  public static Durability inMemory() {
    return new Durability(Persistence.IN_MEMORY, OptionalInt.empty());
  }

  /**
   * The store does not check the server's settings; the operator is responsible for them. For
   * services that do not let clients read the settings.
   */
  public static Durability asOperated() {
    return new Durability(Persistence.AS_OPERATED, OptionalInt.empty());
  }

  /**
   * Returns a copy with the number of replicas that must have a reservation before its handler
   * runs, and an answer before it is sent. A replica confirms that it has the write in memory. If
   * one of the confirming replicas becomes the new master, a failover loses nothing.
   *
   * <p>With 0, a failover loses the writes that the new master has not received yet. A store on a
   * server with replicas does not start until this number is set.
   *
   * @throws IllegalArgumentException if it is negative
   */
  public Durability acknowledgedBy(int replicas) {
    if (replicas < 0) {
      throw new IllegalArgumentException(
          "the number of replicas must not be negative: " + replicas);
    }
    return new Durability(persistence, OptionalInt.of(replicas));
  }

  @Override
  public String toString() {
    String confirmed = replicas.isPresent() ? ", acknowledged by " + replicas.getAsInt() : "";
    return persistence.name().toLowerCase(Locale.ROOT).replace('_', ' ') + confirmed;
  }

  Persistence persistence() {
    return persistence;
  }

  /** Returns how many replicas must confirm a write; empty if the number is not set. */
  OptionalInt replicas() {
    return replicas;
  }
}
