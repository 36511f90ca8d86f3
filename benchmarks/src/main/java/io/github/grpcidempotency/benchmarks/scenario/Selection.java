package io.github.grpcidempotency.benchmarks.scenario;

import java.util.List;

/**
 * Which of the ways to run a create are compared with the bare handler.
 *
 * @param names of whom; one that ends with an asterisk stands for all that begin so. All are
 *     compared if there are none
 */
public record Selection(List<String> names) {
  /** Makes a selection, and checks that each of its names stands for something. */
  public Selection {
    for (String name : names) {
      if (Subject.ids().stream().noneMatch(id -> matches(name, id))) {
        throw new IllegalArgumentException(
            "no variant is called %s; there are %s"
                .formatted(name, String.join(", ", Subject.ids())));
      }
    }
  }

  boolean includes(String id) {
    return names.isEmpty() || names.stream().anyMatch(name -> matches(name, id));
  }

  private static boolean matches(String name, String id) {
    return name.endsWith("*")
        ? id.startsWith(name.substring(0, name.length() - 1))
        : id.equals(name);
  }
}
