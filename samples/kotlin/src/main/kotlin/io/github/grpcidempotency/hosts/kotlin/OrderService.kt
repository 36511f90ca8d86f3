package io.github.grpcidempotency.hosts.kotlin

import com.github.f4b6a3.uuid.UuidCreator
import io.github.grpcidempotency.hosts.orders.v1.CreateOrderRequest
import io.github.grpcidempotency.hosts.orders.v1.CreateShipmentRequest
import io.github.grpcidempotency.hosts.orders.v1.Order
import io.github.grpcidempotency.hosts.orders.v1.OrderServiceGrpcKt.OrderServiceCoroutineImplBase
import io.github.grpcidempotency.hosts.orders.v1.Shipment
import io.github.grpcidempotency.hosts.orders.v1.order
import io.github.grpcidempotency.hosts.orders.v1.shipment
import io.github.grpcidempotency.postgres.ClaimJdbi
import io.github.grpcidempotency.postgres.TransactionalCompletion
import io.grpc.Status
import io.grpc.StatusException
import java.util.UUID
import javax.sql.DataSource
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import org.jdbi.v3.core.Jdbi

/** Two ways to run a handler. */
open class OrderService(pool: DataSource) : OrderServiceCoroutineImplBase() {
    private val jdbi = Jdbi.create(pool)

    /** Transactional: order and recorded answer are one commit. */
    override suspend fun createOrder(request: CreateOrderRequest): Order {
        val order = order {
            id = UuidCreator.getTimeOrderedEpoch().toString()
            item = request.item
        }
        withContext(Dispatchers.IO) {
            ClaimJdbi.handle() // begun and committed for you
                .execute(
                    "INSERT INTO shop.orders (id, item) VALUES (?, ?)",
                    UUID.fromString(order.id),
                    order.item,
                )
        }
        checkStock(order)
        return order
    }

    /** Reserved and joined: the slow work comes first, then shipment and answer are one commit. */
    override suspend fun createShipment(request: CreateShipmentRequest): Shipment {
        val shipment = shipment {
            id = UuidCreator.getTimeOrderedEpoch().toString()
            tracking = callCarrier()
        }
        withContext(Dispatchers.IO) {
            jdbi.useTransaction<Exception> { handle ->
                handle.execute(
                    "INSERT INTO shop.shipments VALUES (?, ?, ?)",
                    UUID.fromString(shipment.id),
                    UUID.fromString(request.orderId),
                    shipment.tracking,
                )
                TransactionalCompletion.completeAndCommit(handle.connection, shipment)
            }
        }
        return shipment
    }

    /** Fails the call: its writes are rolled back. */
    protected open suspend fun checkStock(order: Order) {
        if (order.item == "unicorn") {
            throw StatusException(Status.FAILED_PRECONDITION.withDescription("out of stock"))
        }
    }

    /** Stands for a slow call to a carrier. */
    protected open suspend fun callCarrier(): String = "track-" + UUID.randomUUID()
}
