package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.CompletionWatch;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.thing.ForwardingStore;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What an interceptor closes. */
class InterceptorCloseTest {
  private final List<String> closed = new CopyOnWriteArrayList<>();

  @Test
  void anExceptionOfOnePartLeavesNoOtherPartOpen() {
    IdempotencyInterceptor interceptor =
        IdempotencyInterceptor.builder(Procedures.of(), Optional::empty)
            .shards(
                Shards.of(
                    Map.of("a", new Unclosable("a"), "b", new Unclosable("b")),
                    caller -> Optional.of("a")))
            .listener(new Stops())
            .build();
    interceptor.operationAccess().orElseThrow().onClose(() -> close("first"));
    interceptor.operationAccess().orElseThrow().onClose(() -> close("second"));

    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(interceptor::close)
        .withMessage("first")
        .satisfies(
            thrown ->
                assertThat(thrown.getSuppressed())
                    .extracting(Throwable::getMessage)
                    .contains("second"));
    assertThat(closed)
        .containsExactly("first", "second", "watch a", "stopped a", "watch b", "stopped b");
  }

  private void close(String part) {
    closed.add(part);
    throw new IllegalStateException(part);
  }

  /** A store whose watch throws when it is closed. */
  private final class Unclosable extends ForwardingStore {
    private final String name;

    Unclosable(String name) {
      super(new InMemoryIdempotencyStore());
      this.name = name;
    }

    @Override
    public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
      return new CompletionWatch() {
        @Override
        public void add(IdempotencyKey key) {}

        @Override
        public void remove(IdempotencyKey key) {}

        @Override
        public void close() {
          InterceptorCloseTest.this.close("watch " + name);
        }
      };
    }
  }

  private final class Stops implements IdempotencyListener {
    @Override
    public void onEvent(IdempotencyEvent event) {}

    @Override
    public void stopped(LiveCounts counts) {
      closed.add("stopped " + counts.shard().orElseThrow());
    }
  }
}
