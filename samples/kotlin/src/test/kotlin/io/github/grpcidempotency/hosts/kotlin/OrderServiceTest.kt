package io.github.grpcidempotency.hosts.kotlin

import io.github.grpcidempotency.grpc.IdempotencyMetadata
import io.github.grpcidempotency.hosts.orders.v1.Order
import io.github.grpcidempotency.hosts.orders.v1.OrderServiceGrpcKt.OrderServiceCoroutineStub
import io.github.grpcidempotency.hosts.orders.v1.createOrderRequest
import io.github.grpcidempotency.hosts.orders.v1.createShipmentRequest
import io.github.grpcidempotency.postgres.ClaimJdbi
import io.github.grpcidempotency.postgres.IdempotencySchema
import io.github.grpcidempotency.testing.PostgresFixture
import io.grpc.Grpc
import io.grpc.InsecureChannelCredentials
import io.grpc.Metadata
import io.grpc.Status
import io.grpc.StatusException
import io.grpc.stub.MetadataUtils
import java.util.UUID
import java.util.concurrent.atomic.AtomicReference
import javax.sql.DataSource
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.awaitility.Awaitility.await
import org.flywaydb.core.Flyway
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.extension.RegisterExtension

class OrderServiceTest {
    private val checking = AtomicReference<suspend (Order) -> Unit> {}
    private val server = OrderServer(database.pool(), CheckingService(database.pool()))
    private val channel =
        Grpc.newChannelBuilder("localhost:${server.port}", InsecureChannelCredentials.create())
            .build()
    private val trailers = AtomicReference<Metadata>()
    private val book = createOrderRequest { item = "book" }

    @AfterEach
    fun stop() {
        channel.shutdownNow()
        server.close()
    }

    @Test
    fun aRetryGetsTheFirstAnswerAndMakesNothing(): Unit = runBlocking {
        val stub = stub()

        val first = stub.createOrder(book)
        val replayedAtFirst = replayed()
        val retry = stub.createOrder(book)

        assertThat(replayedAtFirst).isFalse()
        assertThat(replayed()).isTrue()
        assertThat(retry).isEqualTo(first)
        assertThat(count("shop.orders")).isEqualTo(1)
        assertThat(
                count("shop.orders JOIN idempotency.idempotency_keys AS keys ON keys.xmin = orders.xmin")
            )
            .isEqualTo(1)
    }

    @Test
    fun theTransactionIsFoundOnWhateverThreadTheCallsCoroutinesRun(): Unit = runBlocking {
        val transactions = mutableListOf<String>()
        checking.set {
            transactions += transaction()
            transactions += withContext(Dispatchers.IO) { transaction() }
            transactions +=
                withContext(Dispatchers.Default) {
                    delay(1)
                    transaction()
                }
            transactions += coroutineScope { async(Dispatchers.IO) { transaction() }.await() }
        }

        stub().createOrder(book)

        assertThat(transactions).hasSize(4)
        assertThat(transactions.toSet()).hasSize(1)
    }

    @Test
    fun aCoroutineOfAnotherScopeIsOutsideOfTheClaimAndIsToldSo(): Unit = runBlocking {
        val outside = CompletableDeferred<Throwable?>()
        checking.set {
            CoroutineScope(Dispatchers.IO)
                .launch { outside.complete(runCatching { transaction() }.exceptionOrNull()) }
                .join()
        }

        stub().createOrder(book)

        assertThat(outside.await())
            .isInstanceOf(IllegalStateException::class.java)
            .hasMessageContaining("no transaction is available")
    }

    @Test
    fun ofAHandlerThatThrowsNothingRemainsAndARetryRuns(): Unit = runBlocking {
        val stub = stub()

        val refused =
            assertThrows<StatusException> { stub.createOrder(createOrderRequest { item = "unicorn" }) }

        assertThat(refused.status.code).isEqualTo(Status.Code.FAILED_PRECONDITION)
        assertThat(count("shop.orders")).isZero()
        assertThat(count("idempotency.idempotency_keys")).isZero()
        assertThat(stub.createOrder(book).item).isEqualTo("book")
    }

    @Test
    fun ofACancelledCallNothingRemainsAndARetryRuns(): Unit = runBlocking {
        val running = CompletableDeferred<Unit>()
        checking.set {
            running.complete(Unit)
            awaitCancellation()
        }
        val stub = stub()

        val call = launch(Dispatchers.IO) { stub.createOrder(book) }
        running.await()
        call.cancelAndJoin()
        await().untilAsserted {
            assertThat(database.pool().hikariPoolMXBean.activeConnections).isZero()
        }

        assertThat(count("shop.orders")).isZero()
        checking.set {}
        stub.createOrder(book)
        assertThat(replayed()).isFalse()
        assertThat(count("shop.orders")).isEqualTo(1)
    }

    @Test
    fun aReservedHandlersTransactionRecordsItsAnswer(): Unit = runBlocking {
        val order = stub().createOrder(book)
        val stub = stub()
        val request = createShipmentRequest { orderId = order.id }

        val first = stub.createShipment(request)
        val retry = stub.createShipment(request)

        assertThat(replayed()).isTrue()
        assertThat(retry).isEqualTo(first)
        assertThat(
                count(
                    "shop.shipments JOIN idempotency.idempotency_keys AS keys" +
                        " ON keys.xmin = shipments.xmin"
                )
            )
            .isEqualTo(1)
    }

    /** A client with a new key. */
    private fun stub(): OrderServiceCoroutineStub {
        val headers = Metadata()
        headers.put(IdempotencyMetadata.KEY, UUID.randomUUID().toString())
        headers.put(Authentication.SUBJECT_HEADER, "auth0|alice")
        return OrderServiceCoroutineStub(channel)
            .withInterceptors(
                MetadataUtils.newAttachHeadersInterceptor(headers),
                MetadataUtils.newCaptureMetadataInterceptor(AtomicReference(), trailers),
            )
    }

    private fun replayed() = trailers.get().containsKey(IdempotencyMetadata.REPLAYED)

    private inner class CheckingService(pool: DataSource) : OrderService(pool) {
        override suspend fun checkStock(order: Order) {
            super.checkStock(order)
            checking.get()(order)
        }
    }

    companion object {
        @JvmField
        @RegisterExtension
        val database: PostgresFixture =
            PostgresFixture.withRoles("shop_owner", "shop_app")
                .migrate(IdempotencySchema::migrate)
                .migrate { owner ->
                    Flyway.configure()
                        .dataSource(owner)
                        .schemas("shop")
                        .locations("shop")
                        .load()
                        .migrate()
                }
                .create()

        private fun transaction(): String =
            ClaimJdbi.handle()
                .createQuery("SELECT pg_current_xact_id()::text")
                .mapTo(String::class.java)
                .one()

        /** Counts as a superuser, who sees past row-level security. */
        private fun count(rows: String): Int =
            database.superuser().connection.use { superuser ->
                superuser.createStatement().executeQuery("SELECT count(*) FROM $rows").use {
                    it.next()
                    it.getInt(1)
                }
            }
    }
}
