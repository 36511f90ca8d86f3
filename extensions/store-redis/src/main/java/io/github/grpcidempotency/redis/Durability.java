package io.github.grpcidempotency.redis;

import java.util.Locale;
import java.util.OptionalInt;

/**
 * What a reservation or an answer must survive before the store takes it for made. The store checks
 * the server's settings when it starts, and refuses a server that keeps less. Immutable.
 *
 * <p>The default is {@link #everyWrite}. Weaker ones have to be chosen.
 */
public final class Durability {
  /** What the server does before it answers. */
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
   * appendfsync always}, {@code no-appendfsync-on-rewrite no}. Its crash, and that of its machine,
   * loses nothing.
   */
  public static Durability everyWrite() {
    return new Durability(Persistence.EVERY_WRITE, OptionalInt.empty());
  }

  /**
   * The server flushes what it has written once a second: {@code appendonly yes}. A crash of its
   * machine, and at times of the server alone, loses the last second or two: calls answered then
   * run again, and so do those that run.
   */
  public static Durability everySecond() {
    return new Durability(Persistence.EVERY_SECOND, OptionalInt.empty());
  }

  /**
   * The server may keep everything in its memory. Its crash or restart loses every record: calls
   * answered before run again, and so do those that run.
   */
  public static Durability inMemory() {
    return new Durability(Persistence.IN_MEMORY, OptionalInt.empty());
  }

  /**
   * Whoever operates the server answers for it, and the store does not look at its settings. For
   * services that do not let anybody see them.
   */
  public static Durability asOperated() {
    return new Durability(Persistence.AS_OPERATED, OptionalInt.empty());
  }

  /**
   * Returns the same with so many replicas that must have a reservation before its handler runs,
   * and an answer before it is sent. A replica confirms that it has it in its memory. If the new
   * master is one of those that have it, a failover loses nothing.
   *
   * <p>With none, a failover loses what the new master has not got yet. A store on a server with
   * replicas does not start until this is set.
   *
   * @throws IllegalArgumentException if it is negative
   */
  public Durability acknowledgedBy(int replicas) {
    if (replicas < 0) {
      throw new IllegalArgumentException("not a number of replicas: " + replicas);
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

  /** Returns how many replicas must confirm a write; empty if nobody has said. */
  OptionalInt replicas() {
    return replicas;
  }
}
