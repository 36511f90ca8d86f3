package io.github.grpcidempotency.procedure;

import com.google.common.collect.Sets;
import com.google.rpc.Code;
import java.util.List;
import java.util.Set;

/**
 * The effect of a handler's errors on its key. By default an error frees the key.
 *
 * @param terminal codes of errors that are recorded with their details and replayed, because a
 *     retry is pointless
 * @param unknown codes of errors after which the effect may have happened; the key stays reserved
 *     until its lease ends
 * @param trailers the names of trailers that are recorded with a terminal error, in addition to
 *     {@code grpc-status-details-bin}
 */
public record FailurePolicy(Set<Code> terminal, Set<Code> unknown, Set<String> trailers) {
  private static final FailurePolicy RELEASE_ALL = new FailurePolicy(Set.of(), Set.of(), Set.of());

  /**
   * Checks the sets.
   *
   * @throws IllegalArgumentException if a code is in two sets, or {@code OK} in any
   */
  public FailurePolicy {
    terminal = Set.copyOf(terminal);
    unknown = Set.copyOf(unknown);
    trailers = Set.copyOf(trailers);
    Set<Code> all = Sets.union(terminal, unknown);
    if (all.size() < terminal.size() + unknown.size()) {
      throw new IllegalArgumentException("a status code can be only one of terminal and unknown");
    }
    if (all.contains(Code.OK)) {
      throw new IllegalArgumentException("the status code OK is not a failure");
    }
  }

  /**
   * Returns the default: every error frees the key, so that the client can retry with the same key.
   */
  public static FailurePolicy releaseAll() {
    return RELEASE_ALL;
  }

  /** Returns this policy with other terminal codes. */
  public FailurePolicy withTerminal(Code... codes) {
    return new FailurePolicy(Set.copyOf(List.of(codes)), unknown, trailers);
  }

  /** Returns this policy with other unknown codes. */
  public FailurePolicy withUnknown(Code... codes) {
    return new FailurePolicy(terminal, Set.copyOf(List.of(codes)), trailers);
  }

  /** Returns this policy with other recorded trailers, in addition to the error's details. */
  public FailurePolicy withTrailers(String... names) {
    return new FailurePolicy(terminal, unknown, Set.copyOf(List.of(names)));
  }
}
