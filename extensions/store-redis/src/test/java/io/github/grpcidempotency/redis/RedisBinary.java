package io.github.grpcidempotency.redis;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import redis.embedded.core.ExecutableProvider;

/**
 * The server that tests start: the one that the property {@code redis.server} names; or else the
 * one in the jar of embedded-redis, if it runs here (it needs the libraries of OpenSSL 3); or else
 * a {@code redis-server} or {@code valkey-server} of this machine.
 */
final class RedisBinary {
  private static final Optional<String> FOUND = find();

  private RedisBinary() {}

  static boolean isThere() {
    return FOUND.isPresent();
  }

  static String path() {
    return FOUND.orElseThrow();
  }

  private static Optional<String> find() {
    String named = System.getProperty("redis.server", "");
    if (!named.isEmpty()) {
      return Optional.of(named);
    }
    return Stream.concat(Stream.of(embedded()), installed()).filter(RedisBinary::runs).findFirst();
  }

  private static String embedded() {
    try {
      return ExecutableProvider.newJarResourceProvider().get().getAbsolutePath();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static Stream<String> installed() {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .flatMap(
            folder ->
                Stream.of("redis-server", "valkey-server")
                    .map(name -> Path.of(folder, name).toString()));
  }

  private static boolean runs(String binary) {
    try {
      Process version =
          new ProcessBuilder(binary, "--version")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return version.waitFor(10, TimeUnit.SECONDS) && version.exitValue() == 0;
    } catch (IOException notHere) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
