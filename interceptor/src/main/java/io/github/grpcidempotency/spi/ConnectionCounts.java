package io.github.grpcidempotency.spi;

/**
 * The use of a store's own connections at one moment.
 *
 * @param used the number of connections that threads have
 * @param waiting the number of threads that wait for one
 */
public record ConnectionCounts(int used, int waiting) {
  /** The counts of a store without connections of its own. */
  public static final ConnectionCounts NONE = new ConnectionCounts(0, 0);
}
