package io.github.grpcidempotency.redis;

import com.google.common.base.Splitter;
import io.github.grpcidempotency.test.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The power of a server's machine. When it fails, each file keeps what was flushed to the disk, and
 * no more: the kernel's memory is lost. Who has flushed what is noted by a library that is loaded
 * into the server. Names of files count as kept, and the server must not rewrite its files.
 */
final class PowerSupply implements AutoCloseable {
  private static final Path SOURCE = Path.of("src/test/c/flushes.c");

  private final Path directory;
  private final Path library;
  private final Path notes;

  /** How long files were when the power came back: all that had been flushed by then. */
  private final Map<Object, Long> kept = new HashMap<>();

  /** Compiles the library. */
  PowerSupply() {
    try {
      directory = Files.createTempDirectory("power");
      library = directory.resolve("flushes.so");
      notes = directory.resolve("notes");
      Process compiler =
          Program.CC
              .process("-shared", "-fPIC", "-O1", "-o", library + "", SOURCE + "", "-ldl")
              .inheritIO()
              .start();
      if (!compiler.waitFor(1, TimeUnit.MINUTES) || compiler.exitValue() != 0) {
        throw new IllegalStateException("cc does not compile " + SOURCE);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  /** Returns what a server is started with. */
  Map<String, String> environment() {
    return Map.of("LD_PRELOAD", library.toString(), "FLUSHES", notes.toString());
  }

  /** Takes away what has not been flushed, from the files of a server that has been killed. */
  void fail(Path files) {
    try {
      Map<Object, Long> flushed = new HashMap<>(kept);
      for (String note : Files.exists(notes) ? Files.readAllLines(notes) : List.<String>of()) {
        List<String> parts = Splitter.on(' ').splitToList(note);
        flushed.put(Long.valueOf(parts.get(0)), Long.valueOf(parts.get(1)));
      }
      kept.clear();
      try (Stream<Path> all = Files.walk(files)) {
        for (Path file : all.filter(Files::isRegularFile).toList()) {
          Object inode = Files.getAttribute(file, "unix:ino");
          truncate(file, flushed.getOrDefault(inode, 0L));
          kept.put(inode, Files.size(file));
        }
      }
      Files.deleteIfExists(notes);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static void truncate(Path file, long length) throws IOException {
    try (FileChannel open = FileChannel.open(file, StandardOpenOption.WRITE)) {
      open.truncate(length);
    }
  }

  @Override
  public void close() {
    RedisProcess.delete(directory);
  }
}
