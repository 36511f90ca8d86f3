package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.grpc.MethodDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** What callers do. */
public final class Operations {
  private static final CreateProjectRequest REQUEST =
      CreateProjectRequest.newBuilder().setName("a project of an ordinary name").build();

  private Operations() {}

  /** Creates, with a key of its own each time; bare handlers get one as well, and ignore it. */
  public static Operation create(
      Client client, MethodDescriptor<CreateProjectRequest, Project> method) {
    return done -> client.call(method, Optional.of(newKey()), REQUEST, done);
  }

  /** Retries so many creates that have succeeded, in turn. Blocks until these are made. */
  public static Operation replay(
      Client client, MethodDescriptor<CreateProjectRequest, Project> method, int replayedKeys) {
    Supplier<String> keys = createdOnce(client, method, replayedKeys);
    return done -> client.call(method, Optional.of(keys.get()), REQUEST, done);
  }

  /** Retries so many creates like that, and says so. */
  public static Operation hintedReplay(
      Client client, MethodDescriptor<CreateProjectRequest, Project> method, int replayedKeys) {
    Supplier<String> keys = createdOnce(client, method, replayedKeys);
    return done -> client.retry(method, keys.get(), REQUEST, done);
  }

  /** Returns a fresh key as our clients send it: a UUIDv7. */
  public static String newKey() {
    return UuidCreator.getTimeOrderedEpoch().toString();
  }

  /**
   * Checks that a retry is answered with the first response, and another key with another. Blocks.
   *
   * @throws IllegalStateException if it is not
   */
  public static void checkReplay(
      Client client, MethodDescriptor<CreateProjectRequest, Project> method) {
    String key = newKey();
    Project first = createWith(client, method, key);
    if (!createWith(client, method, key).equals(first)
        || createWith(client, method, newKey()).getId().equals(first.getId())) {
      throw new IllegalStateException(method.getFullMethodName() + " does not replay");
    }
  }

  private static Supplier<String> createdOnce(
      Client client, MethodDescriptor<CreateProjectRequest, Project> method, int replayedKeys) {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < replayedKeys; i++) {
      String key = newKey();
      Project unused = createWith(client, method, key);
      keys.add(key);
    }
    AtomicInteger next = new AtomicInteger();
    return () -> keys.get(Math.floorMod(next.getAndIncrement(), keys.size()));
  }

  private static Project createWith(
      Client client, MethodDescriptor<CreateProjectRequest, Project> method, String key) {
    CompletableFuture<Reply> answer = new CompletableFuture<>();
    client.call(method, Optional.of(key), REQUEST, answer::complete);
    Reply reply = answer.join();
    return reply
        .project()
        .orElseThrow(() -> new IllegalStateException("a create failed: " + reply.status()));
  }
}
