package io.github.grpcidempotency.example.provider;

import com.google.protobuf.util.Timestamps;
import io.github.grpcidempotency.example.cloud.v1.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * The sales: one file per key, so that they outlive the process. Thread-safe, for one process at a
 * time.
 */
final class Sales {
  private static final String SOLD = ".machine";

  private final Path directory;

  private Sales(Path directory) {
    this.directory = directory;
  }

  static Sales in(Path directory) throws IOException {
    return new Sales(Files.createDirectories(directory));
  }

  /**
   * What a key has bought.
   *
   * @param firstInRegion whether this is a new sale, and the first one in the region
   */
  record Sale(Machine machine, boolean firstInRegion) {}

  /** Sells a machine, unless the key has bought one before. */
  synchronized Sale sell(UUID key, String region) throws IOException {
    Path sold = directory.resolve(key + SOLD);
    if (Files.exists(sold)) {
      return new Sale(read(sold), false);
    }
    Machine machine =
        Machine.newBuilder()
            .setId("machine-" + UUID.randomUUID())
            .setRegion(region)
            .setCreateTime(Timestamps.fromMillis(System.currentTimeMillis()))
            .build();
    boolean first = all().stream().noneMatch(other -> other.getRegion().equals(region));
    Path written = Files.write(directory.resolve(key + ".new"), machine.toByteArray());
    Files.move(written, sold, StandardCopyOption.ATOMIC_MOVE);
    return new Sale(machine, first);
  }

  /** Returns all machines, the oldest first. */
  synchronized List<Machine> all() throws IOException {
    List<Machine> machines = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(path -> path.toString().endsWith(SOLD)).toList()) {
        machines.add(read(file));
      }
    }
    machines.sort(Comparator.comparing(Machine::getCreateTime, Timestamps.comparator()));
    return machines;
  }

  private static Machine read(Path file) throws IOException {
    return Machine.parseFrom(Files.readAllBytes(file));
  }
}
