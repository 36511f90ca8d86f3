package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.grpc.internal.WireMetadata.ascii;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.primitives.Ints;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Metadata;
import java.util.List;
import java.util.Optional;

/** The headers, other than the key, that affect how a call is served. */
final class RequestHeaders {
  private static final Metadata.Key<String> REQUIRED = ascii(WireNames.REQUIRED);
  private static final Metadata.Key<String> RETRY = ascii(WireNames.RETRY);
  private static final Metadata.Key<String> ATTEMPTS = ascii("grpc-previous-rpc-attempts");

  private RequestHeaders() {}

  static List<String> all(String name, Metadata headers) {
    return all(ascii(name), headers);
  }

  private static List<String> all(Metadata.Key<String> name, Metadata headers) {
    Iterable<String> values = headers.getAll(name);
    return values == null ? List.of() : ImmutableList.copyOf(values);
  }

  /**
   * Returns whether the client demands that its call does not run without protection. An optional
   * key is then required, and the call is refused during an outage of the store.
   */
  static boolean requireProtection(Metadata headers) {
    return demands(headers).contains("true");
  }

  /**
   * Returns the refusal of a call that demands protection more than once, because an intermediary
   * that adds a header must not weaken the demand; empty if there is no such problem, or if the
   * procedure has no protection.
   */
  static Optional<Refusal> repeatedDemand(Procedure procedure, Metadata headers) {
    return demands(headers).size() > 1
            && procedure.keyPolicy() != KeyPolicy.PROHIBITED
            && procedure.keyPolicy() != KeyPolicy.HANDLER_INTERNAL
        ? Optional.of(Refusal.invalidKey(KeyProblem.REPEATED))
        : Optional.empty();
  }

  /** Returns the values of the demand. HTTP/2 components may join values by commas. */
  private static List<String> demands(Metadata headers) {
    return all(REQUIRED, headers).stream()
        .flatMap(value -> Splitter.on(',').trimResults().splitToList(value).stream())
        .toList();
  }

  static KeyPolicy keyPolicy(Procedure procedure, Metadata headers) {
    return procedure.keyPolicy() == KeyPolicy.OPTIONAL && requireProtection(headers)
        ? KeyPolicy.REQUIRED
        : procedure.keyPolicy();
  }

  static OutagePolicy outagePolicy(Procedure procedure, Metadata headers) {
    return requireProtection(headers) ? OutagePolicy.FAIL_CLOSED : procedure.outagePolicy();
  }

  /**
   * Returns whether a call repeats an earlier one: the client says so, or gRPC's built-in retries
   * send the number of earlier attempts (gRFC A6). This is only a hint to look for a record first,
   * so it need not be trusted, and a malformed value is ignored.
   */
  static boolean hintAtRetry(Metadata headers) {
    String number = headers.get(ATTEMPTS);
    Integer attempts = number == null ? null : Ints.tryParse(number);
    return "true".equals(headers.get(RETRY)) || (attempts != null && attempts > 0);
  }
}
