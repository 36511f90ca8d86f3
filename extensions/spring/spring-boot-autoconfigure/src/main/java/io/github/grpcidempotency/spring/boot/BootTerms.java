package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.store.SetupException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The library's problems name its Java API. A user of the starter has properties and beans instead,
 * so each problem gets the names of those.
 */
final class BootTerms {
  private static final Map<String, String> TERMS = new LinkedHashMap<>();

  static {
    TERMS.put(
        "IdempotencySchema",
        "instead of IdempotencySchema, set grpc.idempotency.migration.username and .password");
    TERMS.put(
        "connections(…)",
        "connections(…) is a DataSource bean with @Qualifier(\"idempotency-connections\") and"
            + " defaultCandidate = false");
    TERMS.put("shorter lease", "the lease is grpc.idempotency.lease");
    TERMS.put(
        "build the store with",
        "to build the store, declare a PostgresIdempotencyStore bean; HostTransactions is a bean,"
            + " too");
  }

  private BootTerms() {}

  static SetupException in(SetupException wrong) {
    SetupException translated =
        new SetupException(wrong.problems().stream().map(BootTerms::in).toList());
    translated.addSuppressed(wrong);
    return translated;
  }

  static String in(String problem) {
    List<String> terms =
        TERMS.entrySet().stream()
            .filter(term -> problem.contains(term.getKey()))
            .map(Map.Entry::getValue)
            .toList();
    return terms.isEmpty()
        ? problem
        : terms.stream().collect(Collectors.joining("; ", problem + " (in Spring Boot: ", ")"));
  }
}
