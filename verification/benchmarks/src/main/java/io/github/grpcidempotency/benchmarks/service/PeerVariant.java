package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.grpc.MethodDescriptor;
import java.util.List;
import java.util.ServiceLoader;

/**
 * A variant that another library executes, with an RPC of its own.
 *
 * @param library the library
 * @param way the library's way
 * @param method the RPC
 */
public record PeerVariant(
    PeerLibrary library,
    PeerLibrary.Way way,
    MethodDescriptor<CreateProjectRequest, Project> method) {
  /** The variants of the libraries on the class path. */
  public static final List<PeerVariant> ALL =
      ServiceLoader.load(PeerLibrary.class).stream()
          .map(ServiceLoader.Provider::get)
          .flatMap(library -> library.ways().stream().map(way -> of(library, way)))
          .toList();

  private static PeerVariant of(PeerLibrary library, PeerLibrary.Way way) {
    return new PeerVariant(library, way, CreateMethod.named(way.id()));
  }
}
