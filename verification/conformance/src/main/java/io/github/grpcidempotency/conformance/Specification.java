package io.github.grpcidempotency.conformance;

import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The numbered sentences of the specification.
 *
 * @param version the version in its second line
 */
record Specification(String version, Map<String, String> sentences) {
  private static final Pattern VERSION = Pattern.compile("(?m)^Version (\\S+)\\.$");

  /** A sentence ends with its item of the list, or with the table that follows. */
  private static final Pattern SENTENCE =
      Pattern.compile("(?ms)^- \\*\\*([0-9.]+)\\*\\* (.*?)(?=\\n- \\*\\*|\\n\\n(?!\\|)|\\z)");

  static Specification load() {
    String text;
    try {
      text =
          Resources.toString(
              Resources.getResource(Specification.class, "specification/README.md"),
              StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    Matcher version = VERSION.matcher(text);
    if (!version.find()) {
      throw new IllegalStateException("the specification has no version");
    }
    Map<String, String> sentences = new LinkedHashMap<>();
    SENTENCE
        .matcher(text)
        .results()
        .forEach(
            found -> sentences.put(found.group(1), found.group(2).replaceAll("\\n {2,}", " ")));
    return new Specification(version.group(1), sentences);
  }

  Optional<String> sentence(String number) {
    return Optional.ofNullable(sentences.get(number));
  }
}
