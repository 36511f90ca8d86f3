package io.github.grpcidempotency.internal.waiting;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.LoggerFactory;

/** Limits how many calls wait, and the total size of their requests. */
public final class WaitCapacity {
  private static final Taken NOTHING = new Taken(0, 0);

  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger(WaitCapacity.class));
  private final WaitLimits limits;

  @GuardedBy("this")
  private final Map<IdempotencyKey, Taken> byKey = new HashMap<>();

  @GuardedBy("this")
  private Taken all = NOTHING;

  private record Taken(int calls, long bytes) {
    Taken plus(int more, long moreBytes) {
      return new Taken(calls + more, bytes + moreBytes);
    }

    boolean fits(int mostCalls, long mostBytes) {
      return calls <= mostCalls && bytes <= mostBytes;
    }
  }

  public WaitCapacity(WaitLimits limits) {
    this.limits = limits;
  }

  /**
   * Reserves room for a call.
   *
   * @param bytes the size of its request
   * @return whether there is room; if so, {@link #leave} must be called afterwards
   */
  boolean enter(IdempotencyKey key, long bytes) {
    boolean fits = tryToEnter(key, bytes);
    if (!fits) {
      log.warn(
          "full",
          null,
          "duplicates of running calls are refused as in progress: too many calls wait, or their"
              + " requests are too large together; raise waitingCalls or waitingBytes, or let"
              + " clients wait longer between retries");
    }
    return fits;
  }

  private synchronized boolean tryToEnter(IdempotencyKey key, long bytes) {
    Taken ofKey = byKey.getOrDefault(key, NOTHING).plus(1, bytes);
    Taken ofAll = all.plus(1, bytes);
    if (!ofKey.fits(limits.callsPerKey(), limits.bytesPerKey())
        || !ofAll.fits(limits.calls(), limits.bytes())) {
      return false;
    }
    byKey.put(key, ofKey);
    all = ofAll;
    return true;
  }

  synchronized void leave(IdempotencyKey key, long bytes) {
    all = all.plus(-1, -bytes);
    byKey.computeIfPresent(
        key, (same, taken) -> taken.calls() == 1 ? null : taken.plus(-1, -bytes));
  }
}
