package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.event.CallInfo;
import io.github.grpcidempotency.event.ProcedureInfo;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Finds the meters of a call. The meters of a procedure are created once; later look-ups allocate
 * nothing.
 */
final class CallMeters {
  private final Map<ProcedureInfo, Function<CallInfo, ProcedureMeters>> procedures =
      new ConcurrentHashMap<>();
  private final Function<ProcedureInfo, Function<CallInfo, ProcedureMeters>> prepare;

  /**
   * Creates the meters.
   *
   * @param tenants the tenants with meters of their own, if any
   */
  CallMeters(Meters meters, Optional<Tenants> tenants) {
    this.prepare =
        procedure ->
            tenants
                .<Function<CallInfo, ProcedureMeters>>map(
                    several -> new TenantMeters(meters, procedure, several)::of)
                .orElseGet(
                    () -> {
                      ProcedureMeters only = new ProcedureMeters(meters, procedure);
                      return call -> only;
                    });
  }

  ProcedureMeters of(CallInfo call) {
    Function<CallInfo, ProcedureMeters> known = procedures.get(call.procedure());
    return (known != null ? known : procedures.computeIfAbsent(call.procedure(), prepare))
        .apply(call);
  }
}
