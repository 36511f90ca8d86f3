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
 * A version of the library, as the class path of servers, with directories packed into jars. The
 * JVM's archive of loaded classes, which halves the time that a server takes to start, requires
 * jars.
 */
final class ServerClasses {
  private static final Path TARGET = Path.of("target", "torture").toAbsolutePath();
  private static final ServerClasses CURRENT =
      new ServerClasses(TARGET.resolve("server"), System.getProperty("java.class.path"));

  private final Path directory;
  private final Path archive;
  private final String classPath;

  private ServerClasses(Path directory, String classPath) {
    this.directory = directory;
    this.archive = directory.resolve("server.jsa");
    this.classPath = packed(classPath);
  }

  /** Returns what this process runs with. */
  static ServerClasses current() {
    return CURRENT;
  }

  /** Returns another version. */
  static ServerClasses of(String name, String classPath) {
    return new ServerClasses(TARGET.resolve(name), classPath);
  }

  String classPath() {
    return classPath;
  }

  /** Returns the options of a JVM that uses the archive. */
  List<String> options() {
    return List.of("-XX:SharedArchiveFile=" + archive);
  }

  /** Returns the options of a JVM that makes the archive when it ends. */
  List<String> archivingOptions() {
    return List.of("-XX:ArchiveClassesAtExit=" + archive);
  }

  boolean isArchived() {
    return Files.exists(archive);
  }

  private String packed(String unpacked) {
    try {
      Files.createDirectories(directory);
      Files.deleteIfExists(archive);
      return Stream.of(unpacked.split(File.pathSeparator))
          .map(Path::of)
          .filter(Files::exists)
          .map(entry -> Files.isDirectory(entry) ? pack(entry) : entry)
          .map(Path::toString)
          .collect(Collectors.joining(File.pathSeparator));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private Path pack(Path classes) {
    try {
      Path jar = Files.createTempFile(directory, "classes", ".jar");
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
