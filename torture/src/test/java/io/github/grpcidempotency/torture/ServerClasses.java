package io.github.grpcidempotency.torture;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/**
 * The class path of servers: the one of this process, with directories packed into jars. The JVM's
 * archive of loaded classes, which halves the time that a server takes to start, requires jars.
 */
final class ServerClasses {
  private static final Path DIRECTORY = Path.of("target", "torture", "server");
  private static final Path ARCHIVE = DIRECTORY.resolve("server.jsa").toAbsolutePath();
  private static final String CLASS_PATH = packed();

  private ServerClasses() {}

  static String classPath() {
    return CLASS_PATH;
  }

  /** Returns the options of a JVM that uses the archive, if there is one. */
  static List<String> options() {
    return Files.exists(ARCHIVE) ? List.of("-XX:SharedArchiveFile=" + ARCHIVE) : List.of();
  }

  /** Returns the options of a JVM that makes the archive when it ends. */
  static List<String> archivingOptions() {
    return List.of("-XX:ArchiveClassesAtExit=" + ARCHIVE);
  }

  static boolean isArchived() {
    return Files.exists(ARCHIVE);
  }

  private static String packed() {
    try {
      Files.createDirectories(DIRECTORY);
      Files.deleteIfExists(ARCHIVE);
      return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
          .map(Path::of)
          .filter(Files::exists)
          .map(entry -> Files.isDirectory(entry) ? pack(entry) : entry)
          .map(Path::toString)
          .collect(Collectors.joining(File.pathSeparator));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static Path pack(Path classes) {
    try {
      Path jar = Files.createTempFile(DIRECTORY.toAbsolutePath(), "classes", ".jar");
      jar.toFile().deleteOnExit();
      try (OutputStream file = Files.newOutputStream(jar);
          JarOutputStream packed = new JarOutputStream(file);
          Stream<Path> entries = Files.walk(classes)) {
        for (Path entry : entries.filter(Files::isRegularFile).toList()) {
          String name = classes.relativize(entry).toString().replace(File.separatorChar, '/');
          packed.putNextEntry(new ZipEntry(name));
          Files.copy(entry, packed);
        }
      }
      return jar;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
