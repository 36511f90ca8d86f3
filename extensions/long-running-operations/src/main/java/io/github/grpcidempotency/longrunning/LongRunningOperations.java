package io.github.grpcidempotency.longrunning;

import com.google.longrunning.OperationsGrpc;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.grpc.BindableService;

/** The service {@code google.longrunning.Operations} over the calls of an interceptor. */
public final class LongRunningOperations {
  private LongRunningOperations() {}

  /**
   * Returns the service. A client can follow an operation there by the id in the trailer {@code
   * idempotency-operation}. Add it to the server with the same authentication as the other
   * services. It ends with the interceptor. If the interceptor has no store, it finds nothing.
   *
   * @throws io.github.grpcidempotency.store.SetupException if the store cannot find operations by
   *     id
   * @throws io.github.grpcidempotency.store.StoreException if the store cannot be reached
   */
  public static BindableService of(IdempotencyInterceptor interceptor) {
    return interceptor
        .operationAccess()
        .<BindableService>map(OperationsService::new)
        .orElseGet(() -> new OperationsGrpc.OperationsImplBase() {});
  }
}
