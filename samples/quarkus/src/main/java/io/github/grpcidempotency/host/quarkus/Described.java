package io.github.grpcidempotency.host.quarkus;

import io.github.grpcidempotency.procedure.Procedures;
import io.grpc.BindableService;
import io.quarkus.grpc.GrpcService;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Finds the methods with the library's option in all services. */
class Described {
  @Produces
  @Singleton
  Procedures procedures(@GrpcService Instance<BindableService> services) {
    Procedures.Builder procedures = Procedures.builder();
    services.forEach(
        service -> procedures.addAnnotated(service.bindService().getServiceDescriptor()));
    return procedures.build();
  }
}
