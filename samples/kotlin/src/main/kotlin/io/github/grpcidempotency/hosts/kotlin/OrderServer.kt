package io.github.grpcidempotency.hosts.kotlin

import io.github.grpcidempotency.grpc.IdempotencyInterceptor
import io.github.grpcidempotency.hosts.orders.v1.OrderServiceGrpc
import io.github.grpcidempotency.key.Caller
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore
import io.github.grpcidempotency.procedure.Procedures
import io.grpc.BindableService
import io.grpc.Grpc
import io.grpc.InsecureServerCredentials
import java.time.Duration
import java.util.Optional
import javax.sql.DataSource

/** A server whose methods are safe to retry. */
class OrderServer(pool: DataSource, service: BindableService) : AutoCloseable {
    private val store = PostgresIdempotencyStore.builder(pool).build()

    private val idempotency =
        IdempotencyInterceptor.builder(
            Procedures.builder().addAnnotated(OrderServiceGrpc.getServiceDescriptor()).build(),
        ) { Optional.ofNullable(Authentication.SUBJECT.get()).map(Caller::ofSubject) }
            .store(store)
            .build() // checks schema, roles and descriptors, and lists all that is wrong

    private val server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(service)
            .intercept(idempotency)
            .intercept(Authentication) // added last, so called first
            .build()
            .start()

    val port: Int
        get() = server.port

    override fun close() {
        idempotency.drain(Duration.ofSeconds(5), server)
        idempotency.close()
        store.close()
    }
}
