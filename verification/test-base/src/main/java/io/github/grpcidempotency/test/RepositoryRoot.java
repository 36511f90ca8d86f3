package io.github.grpcidempotency.test;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The top folder of this repository, for tests that read its pages and sources. */
public final class RepositoryRoot {
  /** Tests run in the folder of their module, so this is absolute. */
  public static final Path PATH = above(Path.of("").toAbsolutePath());

  /** Clients in other languages. */
  public static final Path INTEROP = PATH.resolve("example-server/src/test/interop");

  private static final Set<String> NOT_OURS = Set.of("target", "node_modules", ".git");

  private RepositoryRoot() {}

  /** Returns a file or folder of the repository, by its path below the top folder. */
  public static Path resolve(String path) {
    return PATH.resolve(path);
  }

  /** Returns the files of a folder, without those that builds write while other tests run. */
  public static List<Path> files(Path folder, String ending) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            return NOT_OURS.contains(directory.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.toString().endsWith(ending)) {
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }

  private static Path above(Path folder) {
    if (Files.isDirectory(folder.resolve(".mvn"))) {
      return folder;
    }
    Path parent = folder.getParent();
    if (parent == null) {
      throw new IllegalStateException("The tests do not run in a folder of the repository.");
    }
    return above(parent);
  }
}
