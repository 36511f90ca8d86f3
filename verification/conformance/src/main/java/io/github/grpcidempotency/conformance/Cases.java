package io.github.grpcidempotency.conformance;

import com.google.common.io.Resources;
import com.google.protobuf.TextFormat;
import io.github.grpcidempotency.conformance.v1.Case;
import io.github.grpcidempotency.conformance.v1.Section;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** The cases, which are files beside this class. */
final class Cases {
  private static final List<String> FILES =
      List.of(
          "metadata",
          "keys",
          "comparison",
          "trailers",
          "errors",
          "in-flight",
          "failures",
          "recovery",
          "privacy");

  private Cases() {}

  static List<Section> load() {
    return FILES.stream().map(Cases::read).toList();
  }

  private static Section read(String file) {
    try {
      return TextFormat.parse(
          Resources.toString(
              Resources.getResource(Cases.class, file + ".txtpb"), StandardCharsets.UTF_8),
          Section.class);
    } catch (IOException failure) {
      throw new UncheckedIOException(file, failure);
    }
  }

  /** Returns the sections with the chosen cases only. */
  static List<Section> of(List<Section> sections, Predicate<Case> chosen) {
    return sections.stream()
        .map(
            section ->
                section.toBuilder()
                    .clearCase()
                    .addAllCase(section.getCaseList().stream().filter(chosen).toList())
                    .build())
        .filter(section -> section.getCaseCount() > 0)
        .toList();
  }

  static Optional<Case> named(List<Section> sections, String name) {
    return sections.stream()
        .flatMap(section -> section.getCaseList().stream())
        .filter(each -> each.getName().equals(name))
        .findFirst();
  }
}
