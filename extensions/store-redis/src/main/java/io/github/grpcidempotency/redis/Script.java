package io.github.grpcidempotency.redis;

import com.google.common.hash.Hashing;
import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A Lua script: one operation on one record. */
enum Script {
  CLAIM,
  FIND,
  IS_IN_FLIGHT,
  COMPLETE,
  RELEASE,
  MARK_UNKNOWN,
  RENEW,
  RETAIN;

  private final String source;
  private final String digest;

  Script() {
    source = load("record") + "\n" + load(name().toLowerCase(Locale.ROOT));
    digest = sha1(source);
  }

  String source() {
    return source;
  }

  /** Returns the SHA-1 by which a server identifies a script that it has loaded. */
  String digest() {
    return digest;
  }

  private static String load(String name) {
    try {
      return Resources.toString(
          Resources.getResource(Script.class, name + ".lua"), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @SuppressWarnings(
      "deprecation") // Redis identifies scripts by their SHA-1. It is not used for security.
  private static String sha1(String text) {
    return Hashing.sha1().hashString(text, StandardCharsets.UTF_8).toString();
  }
}
