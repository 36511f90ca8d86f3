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

/** The operations of the callers. */
public final class Operations {
  private static final CreateProjectRequest REQUEST =
      CreateProjectRequest.newBuilder().setName("a project of an ordinary name").build();

  private Operations() {}

  /** Creates with a new key each time. Bare handlers ignore the key. */
  public static Operation create(
      Client client, MethodDescriptor<CreateProjectRequest, Project> method) {
    return done -> client.call(method, Optional.of(newKey()), REQUEST, done);
  }

  /** Retries a number of successful creates, in turn. Blocks until these are made. */
  public static Operation replay(
      Client client, MethodDescriptor<CreateProjectRequest, Project> method, int replayedKeys) {
    Supplier<String> keys = createdOnce(client, method, replayedKeys);
    return done -> client.call(method, Optional.of(keys.get()), REQUEST, done);
  }

  /** The same, but each retry announces that it is one. */
  public static Operation hintedReplay(
      Client client, MethodDescriptor<CreateProjectRequest, Project> method, int replayedKeys) {
    Supplier<String> keys = createdOnce(client, method, replayedKeys);
    return done -> client.retry(method, keys.get(), REQUEST, done);
  }

  /** Returns a new key in the format of the library's clients: a UUIDv7. */
  public static String newKey() {
    return UuidCreator.getTimeOrderedEpoch().toString();
  }

  /**
   * Checks that a retry gets the first response, and that another key gets another response.
   * Blocks.
   *
   * @throws IllegalStateException if not
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
