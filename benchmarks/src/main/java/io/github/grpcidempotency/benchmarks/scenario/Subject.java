package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.Operations;
import io.github.grpcidempotency.benchmarks.report.Kind;
import io.github.grpcidempotency.benchmarks.service.PeerVariant;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.grpc.MethodDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Something that is compared with the bare handler.
 *
 * @param label how tables name it
 * @param kind whose it is
 * @param operation what callers do
 */
record Subject(String label, Kind kind, Operation operation) {
  /** How many keys are retried, if nothing else is said. */
  private static final int REPLAYED_KEYS = 1_000;

  private interface OperationOf {
    Operation by(Client client, int replayedKeys);
  }

  /** How one of them is named, and made. */
  private record Way(String id, String label, Kind kind, OperationOf operation) {}

  private static final List<Way> WAYS = ways();

  /** Returns the names of all that there are. */
  static List<String> ids() {
    return WAYS.stream().map(Way::id).toList();
  }

  /** Returns those that are selected, and the bare handler before them. */
  static List<Subject> of(Client client, Selection selection) {
    return of(client, selection, REPLAYED_KEYS);
  }

  /** Returns those that are selected; those that replay do so with so many keys. */
  static List<Subject> of(Client client, Selection selection, int replayedKeys) {
    return WAYS.stream()
        .filter(way -> way.id().equals(Variant.BARE.id()) || selection.includes(way.id()))
        .map(way -> new Subject(way.label(), way.kind(), way.operation().by(client, replayedKeys)))
        .toList();
  }

  private static List<Way> ways() {
    List<Way> creates = new ArrayList<>();
    List<Way> replays = new ArrayList<>();
    for (Variant variant : Variant.values()) {
      if (!variant.attaches()) {
        creates.add(
            create(
                variant.id(),
                variant.label(),
                variant.kind(),
                variant.method(),
                variant.replays()));
      }
    }
    for (PeerVariant peer : PeerVariant.ALL) {
      creates.add(create(peer.way().id(), peer.way().label(), Kind.PEER, peer.method(), true));
    }
    for (Variant variant : List.of(Variant.RESERVED, Variant.TRANSACTIONAL)) {
      replays.add(replay(variant.id(), variant.label(), variant.method()));
    }
    for (PeerVariant peer : PeerVariant.ALL) {
      replays.add(replay(peer.way().id(), peer.way().label(), peer.method()));
    }
    return Stream.concat(creates.stream(), replays.stream()).toList();
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
        Kind.REPLAY,
        (client, replayedKeys) -> Operations.replay(client, method, replayedKeys));
  }
}
