package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PassThroughTest extends CallTest {
  private final Witness outside = new Witness();
  private final Witness inside = new Witness();

  @Test
  void aCallWithoutAKeyIsNotTouched() {
    ThingServer server = start(witnessed(server()));

    call(server, "a thing").as(ALICE).end().untouched();
    call(server, "a thing").as(ALICE).end().untouched();

    assertPassedThrough(server);
  }

  @Test
  void aMethodWithoutADescriptorIsNotTouched() {
    ThingServer server = start(witnessed(server()));

    keyed(server).to(ThingServer.CREATE_OTHER).end().untouched();
    keyed(server).to(ThingServer.CREATE_OTHER).end().untouched();

    assertPassedThrough(server);
  }

  @Test
  void aStreamingMethodIsNotTouched() {
    ThingServer server = start(witnessed(server()));

    keyed(server).to(ThingServer.CREATE_MANY).requests(3).end().untouched();
    keyed(server).to(ThingServer.CREATE_MANY).requests(0).end().untouched();

    assertPassedThrough(server);
  }

  @Test
  void withoutAStoreNothingIsTouched() {
    ThingServer server = start(witnessed(ThingServer.on(transport)));

    keyed(server).end().untouched();
    keyed(server).end().untouched();

    assertPassedThrough(server);
  }

  private ThingServer.Builder witnessed(ThingServer.Builder builder) {
    return builder.outside(outside).inside(inside);
  }

  private void assertPassedThrough(ThingServer server) {
    assertThat(server.things().runs()).isEqualTo(2);
    assertThat(store.claims()).isZero();
    assertThat(inside.calls).hasSize(2).isEqualTo(outside.calls);
    assertThat(inside.headers).hasSize(2).isEqualTo(outside.headers);
  }

  /** Keeps the calls that it sees; they and their headers are equal only if they are the same. */
  private static final class Witness implements ServerInterceptor {
    final List<ServerCall<?, ?>> calls = new ArrayList<>();
    final List<Metadata> headers = new ArrayList<>();

    @Override
    public synchronized <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata requestHeaders,
        ServerCallHandler<RequestT, ResponseT> next) {
      calls.add(call);
      headers.add(requestHeaders);
      return next.startCall(call, requestHeaders);
    }
  }
}
