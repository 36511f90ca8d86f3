package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.testing.GrpcCleanupExtension;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import java.time.Duration;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The base of the tests of calls: real servers and calls, and a store in memory. */
abstract class CallTest {
  static final UUID ALICE = UUID.randomUUID();
  static final UUID BOB = UUID.randomUUID();
  static final String KEY = UUID.randomUUID().toString();

  static final Duration LEASE = Duration.ofSeconds(30);

  final Transport transport;
  final InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore(LEASE);
  final UnreliableStore store = new UnreliableStore(reliableStore());

  @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension();

  /**
   * Returns what the tests run on; the tests of another store, which is no transport's, need one.
   */
  static Stream<Transport> transports() {
    return Stream.of(Transport.values());
  }

  CallTest(Transport transport) {
    this.transport = transport;
  }

  /** Returns the store of the test's servers; the tests of another store have another one. */
  IdempotencyStore reliableStore() {
    return memory;
  }

  /** Starts a server with the test's store. */
  ThingServer start() {
    return start(server());
  }

  ThingServer start(ThingServer.Builder builder) {
    ThingServer server = builder.start();
    grpc.registerCloseable(server::closeInterceptor);
    grpc.register(server.server());
    grpc.register(server.channel());
    return server;
  }

  ThingServer.Builder server() {
    return ThingServer.on(transport).store(store);
  }

  /** A call of {@code CreateThing} without user or key. */
  static TestCall call(ThingServer server, String name) {
    return new TestCall(server.channel(), ThingServer.CREATE_THING, name);
  }

  /** Alice's call with her key. */
  static TestCall keyed(ThingServer server) {
    return call(server, "a thing").as(ALICE).key(KEY);
  }
}
