package io.github.grpcidempotency.admin;

/**
 * The result of an erasure.
 *
 * @param done whether it was done; otherwise nothing was deleted, and the numbers are those of the
 *     records that would be deleted
 * @param records the number of recorded outcomes, expired ones included
 * @param reservations the number of reservations without an owner: stuck, or with an unknown
 *     outcome
 * @param running the number of operations that were left, because their handler is running, or
 *     because a transaction has locked them
 */
public record ErasureResult(boolean done, long records, long reservations, long running) {
  ErasureResult plus(ErasureResult more) {
    return new ErasureResult(
        more.done,
        records + more.records,
        reservations + more.reservations,
        running + more.running);
  }
}
