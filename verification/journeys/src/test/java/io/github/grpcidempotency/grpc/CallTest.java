package io.github.grpcidempotency.grpc;

import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.GrpcCleanupExtension;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The base of the tests of calls: real servers and calls, and a store in memory or of a module. */
abstract class CallTest {
  static final UUID ALICE = UUID.randomUUID();
  static final UUID BOB = UUID.randomUUID();
  static final String KEY = UUID.randomUUID().toString();

  static final Duration LEASE = Duration.ofMinutes(5);

  /** Long enough for a slow machine to renew it in time. */
  static final Duration SHORT_LEASE = Duration.ofMillis(1500);

  private static final Optional<JourneyStore> OF_A_MODULE =
      ServiceLoader.load(JourneyStore.class).findFirst();

  @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension();

  final Transport transport;
  final InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore(LEASE);
  final UnreliableStore store =
      OF_A_MODULE.isPresent() ? newStore(LEASE) : new UnreliableStore(memory);

  /** What those servers tell that a test lets it listen to. */
  final EventJournal journal = new EventJournal();

  /** A store of a module needs only one transport. */
  static Stream<Transport> transports() {
    return OF_A_MODULE.isPresent()
        ? Stream.of(Transport.IN_PROCESS)
        : Stream.of(Transport.values());
  }

  CallTest() {
    this(Transport.IN_PROCESS);
  }

  CallTest(Transport transport) {
    this.transport = transport;
  }

  /** Returns another store. */
  final UnreliableStore newStore(Duration lease) {
    IdempotencyStore made =
        OF_A_MODULE
            .map(kind -> kind.newStore(lease))
            .orElseGet(() -> new InMemoryIdempotencyStore(lease));
    if (made instanceof AutoCloseable closeable) {
      grpc.registerCloseable(closeable);
    }
    return new UnreliableStore(made);
  }

  /** Lets leases and records end that much sooner. */
  /** Awaits renewals: three to a lease. */
  static void awaitMoreThanALease(UnreliableStore shortLeases) {
    int before = shortLeases.renewals();
    await().until(() -> shortLeases.renewals() >= before + 4);
  }

  /** Calls after the end of the owner's lease, and again if the owner has renewed it before. */
  void takeOver(ThingServer successor, InMemoryIdempotencyStore leases, Duration lease) {
    await()
        .until(
            () -> {
              leases.advance(lease);
              return keyed(successor).end();
            },
            end -> end.code() == Status.Code.OK)
        .first();
  }

  void letPass(Duration time) {
    OF_A_MODULE.ifPresentOrElse(kind -> kind.letPass(time), () -> memory.advance(time));
  }

  /** Starts a server with the test's store. */
  ThingServer start() {
    return start(server());
  }

  /** Starts a server with the test's store and this handler. */
  ThingServer start(ThingHandler handler) {
    return start(server().handler(handler));
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

  /** Starts Alice's call with her key, which keeps running until the test ends it. */
  static TestCall.Started keepOneRunning(ThingServer server) {
    int runs = server.things().runs();
    server.things().keepRunning();
    TestCall.Started call = keyed(server).start();
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .until(() -> server.things().runs() == runs + 1);
    return call;
  }

  /** Starts such a call, and returns what the test ends. */
  static ThingService.Running runningOne(ThingServer server) throws InterruptedException {
    TestCall.Started unused = keepOneRunning(server);
    return server.things().nextRunning();
  }

  /**
   * Starts so many duplicates of Alice's call, and waits until a server in the journal has them.
   */
  final List<TestCall.Started> attach(ThingServer server, int duplicates) {
    int before = attached();
    List<TestCall.Started> started =
        Stream.generate(() -> keyed(server).start()).limit(duplicates).toList();
    awaitAttached(before + duplicates);
    return started;
  }

  final void awaitAttached(int duplicates) {
    await().pollInterval(Duration.ofMillis(5)).until(() -> attached() == duplicates);
  }

  private int attached() {
    return journal.all(Kind.ATTACHED, CallEvent.class).size();
  }
}
