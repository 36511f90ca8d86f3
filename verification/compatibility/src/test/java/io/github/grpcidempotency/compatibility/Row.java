package io.github.grpcidempotency.compatibility;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The versions that one host has, and the class path which that makes. */
record Row(String protobuf, String grpc, String flyway) {
  private static final Row BUILD =
      new Row(property("build.protobuf"), property("build.grpc"), property("build.flyway"));

  private static final List<String> PROTOBUF =
      List.of("3.25.8", "4.31.1", "4.34.2", BUILD.protobuf);
  private static final List<String> GRPC = List.of("1.75.0", BUILD.grpc, "1.85.1");
  private static final List<String> FLYWAY = List.of("10.22.0", "11.20.3", "12.11.0", BUILD.flyway);

  /** Every combination. */
  static Stream<Row> all() {
    return PROTOBUF.stream()
        .flatMap(
            protobuf ->
                GRPC.stream()
                    .flatMap(
                        grpc -> FLYWAY.stream().map(flyway -> new Row(protobuf, grpc, flyway))));
  }

  /** The oldest versions, and the newest. */
  static Stream<Row> outermost() {
    return Stream.of(
        new Row("3.25.8", "1.75.0", "10.22.0"), new Row(BUILD.protobuf, "1.85.1", BUILD.flyway));
  }

  /**
   * Returns the class path: first what is the row's own, then all that is the same for every row.
   */
  List<Path> classPath() {
    Stream<Path> shared =
        Stream.of(property("java.class.path").split(File.pathSeparator))
            .filter(entry -> parts().noneMatch(part -> part.replaces(entry)))
            .map(Path::of);
    return Stream.concat(parts().flatMap(Part::jars), shared).toList();
  }

  /** Returns the names of jars that a host of this row loads classes from. */
  List<String> jars() {
    return List.of(
        "protobuf-java-%s.jar".formatted(protobuf),
        "grpc-api-%s.jar".formatted(grpc),
        "grpc-netty-shaded-%s.jar".formatted(grpc),
        "flyway-core-%s.jar".formatted(flyway));
  }

  @Override
  public String toString() {
    return "protobuf %s, grpc %s, Flyway %s".formatted(protobuf, grpc, flyway);
  }

  /** Returns what is not the build's own. Of protobuf the tests are compiled with the oldest. */
  private Stream<Part> parts() {
    return Stream.of(
            Stream.of(new Part("/com/google/protobuf/", "protobuf-" + protobuf)),
            Stream.of(
                    new Part(
                        "/(io/grpc|com/google/guava/guava|com/google/api/grpc/proto-[a-z-]*)/",
                        "grpc-" + grpc))
                .filter(own -> !grpc.equals(BUILD.grpc)),
            Stream.of(new Part("/org/flywaydb/", "flyway-" + flyway))
                .filter(own -> !flyway.equals(BUILD.flyway)))
        .flatMap(part -> part);
  }

  private static String property(String name) {
    return Objects.requireNonNull(System.getProperty(name), name);
  }

  /**
   * A library of the row: the pattern of its folders in a repository, and the folder that the pom
   * fills.
   */
  private record Part(String folders, String folder) {
    boolean replaces(String entry) {
      return Pattern.compile(folders).matcher(entry.replace('\\', '/')).find();
    }

    Stream<Path> jars() {
      try (Stream<Path> jars = Files.list(Path.of(property("versions"), folder))) {
        return jars.sorted().toList().stream();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
