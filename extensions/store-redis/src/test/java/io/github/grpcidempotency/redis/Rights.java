package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;

/** The rights that the page tells its readers to grant. */
final class Rights {
  private static final String COMMAND = "ACL SETUSER store reset ";

  /** As they follow {@code ACL SETUSER store reset}. */
  static final List<String> OF_THE_STORE = read();

  private Rights() {}

  private static List<String> read() {
    try {
      String page = Files.readString(RepositoryRoot.resolve("docs/how-to/redis.md"));
      int begin = page.indexOf(COMMAND);
      String command = page.substring(begin + COMMAND.length(), page.indexOf("```", begin));
      return List.of(command.replace("\\", " ").strip().split("\\s+"));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
