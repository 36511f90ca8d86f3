package io.github.grpcidempotency.pages;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Programs that lines of a shell call, and that may not be installed. */
final class Tools {
  private static final Set<String> DUMPING = Set.of("pg_dump", "pg_restore");
  private static final Pattern CALLED = Pattern.compile("\\b(psql|pg_dump|pg_restore|openssl)\\b");
  private static final Pattern MAJOR = Pattern.compile("\\(PostgreSQL\\) (\\d+)");

  private Tools() {}

  /** Skips the test, with a word, where a line cannot be run. */
  static void demandAll(String line, RunbookServer server) {
    Matcher called = CALLED.matcher(line);
    while (called.find()) {
      String tool = called.group(1);
      assumeTrue(isInstalled(tool), tool + " is not installed");
      assumeTrue(
          !DUMPING.contains(tool) || major(tool).orElse(0) >= server.major(),
          tool + " is older than the server");
    }
  }

  /** Returns the major version of a program of PostgreSQL; empty if it is not installed. */
  static OptionalInt major(String tool) {
    Matcher version = MAJOR.matcher(said(tool, "--version"));
    return version.find()
        ? OptionalInt.of(Integer.parseInt(version.group(1)))
        : OptionalInt.empty();
  }

  private static boolean isInstalled(String tool) {
    return !said(tool, tool.equals("openssl") ? "version" : "--version").isEmpty();
  }

  private static String said(String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? said : "";
    } catch (IOException notInstalled) {
      return "";
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      return "";
    }
  }
}
