package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.History.Life;
import java.util.Optional;
import java.util.function.Predicate;

/** What was broken at a time, and how a server was set up then: the excuses that a rule accepts. */
final class Excuses {
  private static final long LONGEST_WAIT_FOR_A_CONNECTION_MILLIS = 3_000;

  /** How long it takes at most to set a database read-only. */
  private static final long SETTING_MILLIS = 2_000;

  private final History history;

  Excuses(History history) {
    this.history = history;
  }

  /** Whether a fault of certain kinds affected a server. */
  boolean broke(int server, long first, long last, Predicate<FaultKind> kinds) {
    return history.faults().stream()
        .filter(fault -> kinds.test(fault.kind()))
        .filter(fault -> fault.concerns(server))
        .anyMatch(fault -> fault.touches(first, last));
  }

  /**
   * Whether no connection could be made when a handler began: a pool waits for one, and then tries
   * again less and less often. While its process is stopped, it does not try at all, but its
   * timeout runs on.
   */
  boolean couldNotConnect(CommittedEffect effect) {
    return history.faults().stream()
        .filter(fault -> fault.kind().preventsConnections() || isCutWhileStopped(fault))
        .filter(fault -> fault.server() < 0 || effect.isOf(fault.server()))
        .anyMatch(
            fault ->
                fault.touches(
                    effect.began()
                        - LONGEST_WAIT_FOR_A_CONNECTION_MILLIS
                        - length(fault)
                        - stoppedBefore(effect),
                    effect.began()));
  }

  /** Whether connections were cut, also those being made, of a process that could not try again. */
  private boolean isCutWhileStopped(Fault fault) {
    return fault.kind() == FaultKind.CUT_ALL
        && history.faults().stream()
            .filter(stop -> stop.kind() == FaultKind.STOP && stop.server() == fault.server())
            .anyMatch(stop -> stop.touches(fault.start(), fault.end()));
  }

  /** Returns for how long a handler's process had just been stopped when it began. */
  private long stoppedBefore(CommittedEffect effect) {
    return history.faults().stream()
        .filter(fault -> fault.kind() == FaultKind.STOP && effect.isOf(fault.server()))
        .filter(
            stop ->
                stop.touches(effect.began() - LONGEST_WAIT_FOR_A_CONNECTION_MILLIS, effect.began()))
        .mapToLong(Excuses::length)
        .sum();
  }

  /** Whether the database failed over when a handler began. */
  boolean failedOver(CommittedEffect effect) {
    return history.faults().stream()
        .filter(fault -> fault.kind().isFailover())
        .anyMatch(
            fault ->
                fault.touches(
                    effect.began() - LONGEST_WAIT_FOR_A_CONNECTION_MILLIS,
                    effect.began() + SETTING_MILLIS));
  }

  /** Whether a process was set up so that its statements may fail when nothing is broken. */
  boolean isFragile(Call call) {
    return lifeOf(call.server(), call.start())
        .map(
            life ->
                !life.isOrdinary(Dimension.LOCK_TIMEOUT)
                    || !life.isOrdinary(Dimension.STATEMENT_TIMEOUT)
                    || !life.isOrdinary(Dimension.POOL_DEFECTS)
                    || !life.isOrdinary(Dimension.LISTENER_FAILURES)
                    || !life.isOrdinary(Dimension.ISOLATION))
        .orElse(true);
  }

  /** Whether handlers on a call's server wait for each other's connections. */
  boolean isCrowded(Call call) {
    return lifeOf(call.server(), call.start())
        .filter(life -> !life.isOrdinary(Dimension.POOL_SIZE))
        .isPresent();
  }

  /** The same for a call that only reads what is recorded. */
  boolean isFragileToReplay(Call call) {
    return lifeOf(call.server(), call.start())
        .map(
            life ->
                !life.isOrdinary(Dimension.STATEMENT_TIMEOUT)
                    || !life.isOrdinary(Dimension.POOL_DEFECTS))
        .orElse(true);
  }

  private Optional<ServerLife> lifeOf(int server, long at) {
    return history.lives().stream()
        .filter(life -> life.server() == server && !life.isRefused())
        .filter(life -> life.start() <= at && at <= life.end())
        .map(Life::life)
        .findFirst();
  }

  private static long length(Fault fault) {
    return fault.end() - fault.start();
  }
}
