package io.github.grpcidempotency.benchmarks.load;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** What callers do. */
public final class Operations {
  private static final CreateProjectRequest REQUEST =
      CreateProjectRequest.newBuilder().setName("a project of an ordinary name").build();
  private static final int REPLAYED_KEYS = 1_000;

  private Operations() {}

  /** Creates, with a key of its own each time; bare handlers get one as well, and ignore it. */
  public static Operation create(Client client, Variant variant) {
    return done -> client.call(variant.method(), Optional.of(newKey()), REQUEST, done);
  }

  /** Retries creates that have succeeded, one after the other. Blocks until these are made. */
  public static Operation replay(Client client, Variant variant) {
    List<String> keys = createOnce(client, variant);
    AtomicInteger next = new AtomicInteger();
    return done -> {
      String key = keys.get(Math.floorMod(next.getAndIncrement(), keys.size()));
      client.call(variant.method(), Optional.of(key), REQUEST, done);
    };
  }

  /** Returns a fresh key as our clients send it: a UUIDv7. */
  public static String newKey() {
    return UuidCreator.getTimeOrderedEpoch().toString();
  }

  private static List<String> createOnce(Client client, Variant variant) {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < REPLAYED_KEYS; i++) {
      String key = newKey();
      CompletableFuture<Reply> reply = new CompletableFuture<>();
      client.call(variant.method(), Optional.of(key), REQUEST, reply::complete);
      if (!reply.join().isOk()) {
        throw new IllegalStateException("a create failed: " + reply.join().status());
      }
      keys.add(key);
    }
    return keys;
  }
}
