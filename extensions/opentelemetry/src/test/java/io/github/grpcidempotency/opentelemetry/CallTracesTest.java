package io.github.grpcidempotency.opentelemetry;

import static io.opentelemetry.sdk.testing.assertj.OpenTelemetryAssertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Status;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Real calls, of a server whose calls have spans. */
class CallTracesTest {
  @RegisterExtension static final OpenTelemetryExtension traces = OpenTelemetryExtension.create();

  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder().setName("a thing that nobody may read").build();

  private final InMemoryIdempotencyStore store = new InMemoryIdempotencyStore();

  @Test
  void aCallsSpanContainsTheDecisionOnTheCall() {
    try (ThingServer server = start(ThingHandler::answer);
        ThingClient client = ThingClient.on(server.channel())) {
      Reply reply = client.createThing(REQUEST);

      SpanData span = spans(1).get(0);
      assertThat(span)
          .hasStatus(StatusData.unset())
          .hasAttribute(TraceNames.DECISION, "claimed")
          .hasAttribute(TraceNames.SETTLEMENT, "complete")
          .hasAttribute(TraceNames.KEY_SOURCE, "idempotency-key")
          .hasAttribute(TraceNames.OPERATION, reply.operation().orElseThrow());
      assertThat(span.getEvents())
          .extracting(EventData::getName)
          .containsExactly(TraceNames.CLAIMED, TraceNames.SETTLED);
    }
  }

  @Test
  void aReplayIsLinkedToTheRunEvenIfAnotherServerHasRunIt() {
    try (ThingServer left = start(ThingHandler::answer);
        ThingServer right = start(ThingHandler::answer);
        ThingClient toLeft = ThingClient.on(left.channel());
        ThingClient toRight = ThingClient.on(right.channel()).like(toLeft)) {
      toLeft.createThing(REQUEST);
      assertThat(toRight.createThing(REQUEST).isReplay()).isTrue();

      List<SpanData> spans = spans(2);
      assertThat(spans.get(0).getLinks()).isEmpty();
      assertThat(spans.get(1))
          .hasAttribute(TraceNames.DECISION, "replayed")
          .hasAttribute(TraceNames.REPLAYED_ERROR, false);
      assertThat(spans.get(1).getLinks())
          .extracting(LinkData::getSpanContext)
          .extracting(run -> run.getTraceId() + run.getSpanId())
          .containsExactly(spans.get(0).getTraceId() + spans.get(0).getSpanId());
      assertThat(spans.get(1).getLinks())
          .extracting(LinkData::getAttributes)
          .containsExactly(Attributes.of(TraceNames.LINK, "answered_by"));
    }
  }

  @Test
  void afterATakeoverAReplayIsLinkedToTheSecondRun() {
    try (ThingServer crashing = start((request, answer) -> {});
        ThingServer taking = start(ThingHandler::answer);
        ThingClient toCrashing = ThingClient.on(crashing.channel());
        ThingClient toTaking = ThingClient.on(taking.channel()).like(toCrashing)) {
      CompletableFuture<Reply> lost = toCrashing.startThing(REQUEST);
      await().until(() -> crashing.runs() == 1);
      store.advance(Duration.ofMinutes(1));
      toTaking.createThing(REQUEST);
      toTaking.createThing(REQUEST);

      List<SpanData> spans = spans(2);
      assertThat(spans.get(0)).hasAttribute(TraceNames.ATTEMPT, 2L);
      assertThat(spans.get(1).getLinks().get(0).getSpanContext().getSpanId())
          .isEqualTo(spans.get(0).getSpanId());
      assertThat(lost).isNotDone();
    }
  }

  @Test
  void aDuplicateThatHasWaitedRunsWithinItsOwnSpan() {
    Queue<Span> seen = new ConcurrentLinkedQueue<>();
    CountDownLatch open = new CountDownLatch(1);
    ThingHandler handler =
        (request, answer) -> {
          seen.add(Span.current());
          if (seen.size() == 1) {
            awaitOpen(open);
            answer.onError(Status.UNAVAILABLE.asRuntimeException());
          } else {
            ThingHandler.answer(request, answer);
          }
        };
    try (ThingServer server = attaching(handler);
        ThingClient client = ThingClient.on(server.channel())) {
      CompletableFuture<Reply> first = client.startThing(REQUEST);
      await().until(() -> server.runs() == 1);
      CompletableFuture<Reply> second = client.startThing(REQUEST);
      await().until(() -> server.events().contains(Kind.ATTACHED));
      open.countDown();

      assertThat(first.join().isOk()).isFalse();
      assertThat(second.join().isOk()).isTrue();
      List<SpanData> spans = spans(2);
      assertThat(seen)
          .extracting(span -> span.getSpanContext().getSpanId())
          .containsExactly(spans.get(0).getSpanId(), spans.get(1).getSpanId());
      assertThat(spans.get(1).getEvents())
          .extracting(EventData::getName)
          .containsExactly(
              TraceNames.ATTACHED, TraceNames.WAIT_ENDED, TraceNames.CLAIMED, TraceNames.SETTLED);
    }
  }

  @Test
  void noSpanHasTheKeyTheRequestOrTheAnswer() {
    try (ThingServer server = start(ThingHandler::answer);
        ThingClient client = ThingClient.on(server.channel())) {
      Reply created = client.createThing(REQUEST);
      client.createThing(REQUEST);
      client.createThing(CreateThingRequest.newBuilder().setName("another").build());
      client.withKey("not a UUID").createThing(REQUEST);

      assertThat(spans(4).toString())
          .doesNotContain(client.key())
          .doesNotContain("not a UUID")
          .doesNotContain(REQUEST.getName())
          .doesNotContain(created.thingId().toString())
          .doesNotContain(client.user().toString());
    }
  }

  private ThingServer start(ThingHandler handler) {
    return on(store, handler).start();
  }

  private ThingServer attaching(ThingHandler handler) {
    return on(store, handler)
        .createThing(procedure -> procedure.attach(Duration.ofSeconds(10)))
        .start();
  }

  private static ThingServer.Builder on(IdempotencyStore store, ThingHandler handler) {
    OpenTelemetry openTelemetry = traces.getOpenTelemetry();
    return ThingServer.on(Transport.IN_PROCESS)
        .store(store)
        .handler(handler)
        .outside(new ServerSpans(openTelemetry.getTracer("test")))
        .listener(OpenTelemetryListener.of(openTelemetry));
  }

  /** Returns the spans of the calls that have ended, in the order in which they began. */
  private static List<SpanData> spans(int ended) {
    await().until(() -> traces.getSpans().size() == ended);
    return traces.getSpans().stream()
        .sorted((one, other) -> Long.compare(one.getStartEpochNanos(), other.getStartEpochNanos()))
        .toList();
  }

  private static void awaitOpen(CountDownLatch open) {
    try {
      open.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
