package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.Operations;
import io.github.grpcidempotency.benchmarks.service.Variant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** Something that is compared with the bare handler. */
record Subject(String label, Operation operation) {
  /** How one of them is named, and made. */
  private record Way(String id, String label, Function<Client, Operation> operation) {}

  private static final List<Way> WAYS = ways();

  /** Returns the names of all that there are. */
  static List<String> ids() {
    return WAYS.stream().map(Way::id).toList();
  }

  /** Returns those that are selected, and the bare handler before them. */
  static List<Subject> of(Client client, Selection selection) {
    return WAYS.stream()
        .filter(way -> way.id().equals(Variant.BARE.id()) || selection.includes(way.id()))
        .map(way -> new Subject(way.label(), way.operation().apply(client)))
        .toList();
  }

  private static List<Way> ways() {
    List<Way> ways = new ArrayList<>();
    Arrays.stream(Variant.values())
        .filter(variant -> !variant.attaches())
        .forEach(
            variant ->
                ways.add(
                    new Way(
                        variant.id(),
                        variant.label(),
                        client -> Operations.create(client, variant))));
    for (Variant variant : List.of(Variant.RESERVED, Variant.TRANSACTIONAL)) {
      ways.add(
          new Way(
              "replay-of-" + variant.id(),
              "replay of " + variant.label(),
              client -> Operations.replay(client, variant)));
    }
    return List.copyOf(ways);
  }
}
