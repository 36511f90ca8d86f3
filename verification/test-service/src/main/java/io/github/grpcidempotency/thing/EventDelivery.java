package io.github.grpcidempotency.thing;

import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.Arrays;

/** Calls the method of a listener for an event of any kind, as the interceptor does. */
public final class EventDelivery {
  private EventDelivery() {}

  /** Calls the method. */
  public static void deliver(IdempotencyEvent event, IdempotencyListener listener) {
    try {
      of(event, listener).invokeExact();
    } catch (RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** Returns a handle that calls the method, of the type {@code ()void}. */
  public static MethodHandle of(IdempotencyEvent event, IdempotencyListener listener) {
    Method method =
        Arrays.stream(IdempotencyListener.class.getMethods())
            .filter(
                each -> Arrays.equals(each.getParameterTypes(), new Class<?>[] {event.getClass()}))
            .findFirst()
            .orElseThrow();
    try {
      return MethodHandles.insertArguments(
          MethodHandles.lookup().unreflect(method), 0, listener, event);
    } catch (IllegalAccessException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
