package io.github.grpcidempotency.benchmarks.scenario;

import com.google.common.base.Suppliers;
import io.github.grpcidempotency.benchmarks.service.PeerVariant;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.grpc.MethodDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A variant that is compared with the bare handler.
 *
 * @param label its name in tables
 * @param kind the owner of the records
 * @param made creates the operation of the callers, once
 */
record Subject(String label, Kind kind, Supplier<Operation> made) {
  /** Which records it answers new keys from, if that is compared. */
  enum Kind {
    OURS,
    PEER,
    OTHER
  }

  /** The default number of keys that are retried. */
  private static final int REPLAYED_KEYS = 1_000;

  private interface OperationOf {
    Operation by(Client client, int replayedKeys);
  }

  /** How one of them is named, and made. */
  private record Way(String id, String label, Kind kind, OperationOf operation) {}

  private static final List<Way> WAYS = ways();

  /**
   * Checks that each name exists; a name that ends with an asterisk matches all names with this
   * beginning.
   *
   * @throws IllegalArgumentException if a name matches nothing
   */
  static void check(List<String> names) {
    for (String name : names) {
      if (WAYS.stream().noneMatch(way -> isSelected(List.of(name), way.id()))) {
        throw new IllegalArgumentException(
            "no variant is called %s; there are %s"
                .formatted(name, String.join(", ", WAYS.stream().map(Way::id).toList())));
      }
    }
  }

  /** All are selected if no names are given. */
  private static boolean isSelected(List<String> names, String id) {
    return names.isEmpty()
        || names.stream()
            .anyMatch(
                name ->
                    name.endsWith("*")
                        ? id.startsWith(name.substring(0, name.length() - 1))
                        : id.equals(name));
  }

  /** Returns the selected variants, after the bare handler. */
  static List<Subject> of(Client client, List<String> names) {
    return of(client, names, REPLAYED_KEYS);
  }

  /** Returns the selected variants. Replays use this number of keys. */
  static List<Subject> of(Client client, List<String> names, int replayedKeys) {
    return WAYS.stream()
        .filter(way -> way.id().equals(Variant.BARE.id()) || isSelected(names, way.id()))
        .map(
            way ->
                new Subject(
                    way.label(),
                    way.kind(),
                    Suppliers.memoize(() -> way.operation().by(client, replayedKeys))))
        .toList();
  }

  /** Returns the operation of the callers. Blocks the first time if it needs existing records. */
  Operation operation() {
    return made.get();
  }

  private static List<Way> ways() {
    List<Way> ways = new ArrayList<>();
    for (Variant variant : Variant.values()) {
      ways.add(
          create(
              variant.id(),
              variant.label(),
              variant.isOurs() ? Kind.OURS : Kind.OTHER,
              variant.method(),
              variant.replays()));
    }
    for (Variant variant : List.of(Variant.RESERVED, Variant.TRANSACTIONAL, Variant.AT_COMMIT)) {
      ways.add(replay(variant.id(), variant.label(), variant.method()));
    }
    for (Variant variant : List.of(Variant.RESERVED, Variant.TRANSACTIONAL, Variant.AT_COMMIT)) {
      ways.add(
          new Way(
              "hinted-replay-of-" + variant.id(),
              "replay of %s, with the hint".formatted(variant.label()),
              Kind.OTHER,
              (client, keys) -> Operations.hintedReplay(client, variant.method(), keys)));
    }
    // They come last, so that their background work does not count as the cost of others.
    for (PeerVariant peer : PeerVariant.ALL) {
      ways.add(create(peer.way().id(), peer.way().label(), Kind.PEER, peer.method(), true));
    }
    for (PeerVariant peer : PeerVariant.ALL) {
      ways.add(replay(peer.way().id(), peer.way().label(), peer.method()));
    }
    return List.copyOf(ways);
  }

  private static Way create(
      String id,
      String label,
      Kind kind,
      MethodDescriptor<CreateProjectRequest, Project> method,
      boolean replays) {
    return new Way(
        id,
        label,
        kind,
        (client, unused) -> {
          if (replays) {
            Operations.checkReplay(client, method);
          }
          return Operations.create(client, method);
        });
  }

  private static Way replay(
      String id, String label, MethodDescriptor<CreateProjectRequest, Project> method) {
    return new Way(
        "replay-of-" + id,
        "replay of " + label,
        Kind.OTHER,
        (client, replayedKeys) -> Operations.replay(client, method, replayedKeys));
  }
}
