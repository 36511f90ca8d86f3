package io.github.grpcidempotency.test;

import java.nio.file.Files;
import java.nio.file.Path;

/** The top folder of this repository, for tests that read its pages and sources. */
public final class RepositoryRoot {
  /** Tests run in the folder of their module, so this is absolute. */
  public static final Path PATH = above(Path.of("").toAbsolutePath());

  private RepositoryRoot() {}

  /** Returns a file or folder of the repository, by its path below the top folder. */
  public static Path resolve(String path) {
    return PATH.resolve(path);
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
