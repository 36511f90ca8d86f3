package io.github.grpcidempotency.internal.engine;

import com.google.common.base.Throwables;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Closes what consists of several parts. */
public final class Closing {
  private Closing() {}

  /**
   * Runs every action, in this order. Throws the first exception after the last action; later
   * exceptions are suppressed ones of the first.
   */
  public static void all(List<? extends Runnable> actions) {
    @Nullable Throwable first = null;
    for (Runnable action : actions) {
      try {
        action.run();
      } catch (Throwable thrown) {
        if (first == null) {
          first = thrown;
        } else {
          first.addSuppressed(thrown);
        }
      }
    }
    if (first != null) {
      Throwables.throwIfUnchecked(first);
      throw new IllegalStateException(first);
    }
  }
}
