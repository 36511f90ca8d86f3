package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A disk of two megabytes that can be filled. Only root can mount one: others skip the test. */
final class SmallDisk implements AutoCloseable {
  private final Path directory;

  private SmallDisk(Path directory) {
    this.directory = directory;
  }

  static SmallDisk mount(Path directory) throws IOException {
    assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", directory.toString()),
        "a small disk can be mounted by root only");
    return new SmallDisk(directory);
  }

  Path directory() {
    return directory;
  }

  /** Leaves no byte. */
  void fill() {
    try (OutputStream file = Files.newOutputStream(filler())) {
      while (true) {
        file.write(new byte[1024]);
      }
    } catch (IOException full) {
      assertThat(directory.toFile().getUsableSpace()).isZero();
    }
  }

  /** Makes room again. */
  void free() throws IOException {
    Files.delete(filler());
  }

  private Path filler() {
    return directory.resolve("filler");
  }

  @Override
  public void close() {
    assertThat(run("umount", directory.toString())).isTrue();
  }

  private static boolean run(String... command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.onExit().orTimeout(20, TimeUnit.SECONDS).join().exitValue() == 0;
    } catch (IOException missing) {
      return false;
    }
  }
}
