package io.github.grpcidempotency.conformance;

import com.google.common.base.Ascii;
import com.google.rpc.BadRequest.FieldViolation;
import io.github.grpcidempotency.conformance.v1.Expected;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * What a call must end with.
 *
 * @param ends the ends of earlier steps, by name
 * @param values replaces the placeholders of a text
 */
record Expectation(Expected expected, Map<String, Ending> ends, UnaryOperator<String> values) {
  /** Returns how an end differs; empty if it does not. */
  List<String> violations(Ending end) {
    List<String> violations = new ArrayList<>();
    compare(
        violations, "code", expected.getCode().isEmpty() ? "OK" : expected.getCode(), end.code());
    compare(violations, "reason", expected.getReason(), end.reason());
    Map<String, String> metadata = end.info().map(info -> info.getMetadataMap()).orElse(Map.of());
    expected
        .getMetadataMap()
        .forEach((name, pattern) -> match(violations, name, pattern, metadata.get(name)));
    expected
        .getTrailerMap()
        .forEach(
            (name, pattern) ->
                match(violations, "trailer " + name, pattern, end.trailer(name).orElse(null)));
    for (String name : expected.getAbsentList()) {
      end.trailer(name)
          .ifPresent(value -> violations.add("trailer %s: absent, not %s".formatted(name, value)));
    }
    if (!expected.getOutcome().isEmpty()) {
      compare(
          violations,
          "outcome",
          expected.getOutcome(),
          end.recovered().map(Expectation::outcome).orElse("none"));
    }
    same(violations, end);
    details(violations, end);
    if (expected.getNoHeaders() && end.headers().isPresent()) {
      violations.add("headers of the response: none");
    }
    String all = String.join("\n", end.lines());
    for (String text : expected.getWithheldList()) {
      if (all.contains(values.apply(text))) {
        violations.add("the answer must not contain " + text);
      }
    }
    if (!violations.isEmpty() && expected.hasOr()) {
      List<String> others = new Expectation(expected.getOr(), ends, values).violations(end);
      return others.isEmpty() ? List.of() : violations;
    }
    return violations;
  }

  private void same(List<String> violations, Ending end) {
    if (expected.getSameAs().isEmpty()) {
      return;
    }
    Ending other = Objects.requireNonNull(ends.get(expected.getSameAs()));
    if (expected.getOutcome().isEmpty() ? !end.isSameAnswer(other) : !end.recovers(other)) {
      violations.add("the answer: that of \"%s\"".formatted(expected.getSameAs()));
    }
    for (String name : expected.getSameTrailerList()) {
      compare(
          violations,
          "trailer " + name,
          other.trailer(name).orElse("absent"),
          end.trailer(name).orElse("absent"));
    }
  }

  private void details(List<String> violations, Ending end) {
    if (expected.getDetailCount() > 0) {
      compare(
          violations, "details", expected.getDetailList().toString(), end.detailTypes().toString());
    }
    if (expected.getSameStatus()) {
      compare(
          violations,
          "code and message of the details",
          end.code() + " " + end.status().getDescription(),
          end.details()
              .map(
                  status ->
                      io.grpc.Status.fromCodeValue(status.getCode()).getCode()
                          + " "
                          + status.getMessage())
              .orElse("absent"));
    }
    if (expected.getDelaysEqual()) {
      compare(
          violations,
          "grpc-retry-pushback-ms, as RetryInfo",
          end.retry()
              .map(
                  retry ->
                      Duration.ofSeconds(
                              retry.getRetryDelay().getSeconds(), retry.getRetryDelay().getNanos())
                          .toMillis())
              .map(String::valueOf)
              .orElse("absent"),
          end.trailer("grpc-retry-pushback-ms").orElse("absent, too"));
    }
    if (!expected.getField().isEmpty()) {
      compare(
          violations,
          "field of BadRequest",
          expected.getField(),
          end.badRequest().stream()
              .flatMap(bad -> bad.getFieldViolationsList().stream())
              .map(FieldViolation::getField)
              .findFirst()
              .orElse("absent"));
    }
  }

  private static String outcome(RecoverResponse recovered) {
    return recovered.hasUnfinished()
        ? recovered.getUnfinished().getState().name()
        : Ascii.toLowerCase(recovered.getOutcomeCase().name());
  }

  private static void compare(
      List<String> violations, String what, String expected, String actual) {
    if (!expected.equals(actual)) {
      violations.add("%s: %s, not %s".formatted(what, named(expected), named(actual)));
    }
  }

  private static String named(String value) {
    return value.isEmpty() ? "none" : value;
  }

  private void match(
      List<String> violations,
      String what,
      String pattern,
      @org.jspecify.annotations.Nullable String actual) {
    if (actual == null || !actual.matches(values.apply(pattern))) {
      violations.add(
          "%s: %s, not %s".formatted(what, pattern, Optional.ofNullable(actual).orElse("absent")));
    }
  }
}
