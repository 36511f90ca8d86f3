package io.github.grpcidempotency.benchmarks.database;

import java.time.Duration;
import org.jdbi.v3.core.Jdbi;

/** The processor time of the database's processes. */
public final class ServerCpu {
  private final ProcessHandle postmaster;

  /** Finds the server's processes; it runs on this machine. */
  public ServerCpu(Jdbi superuser) {
    long backend =
        superuser.withHandle(
            handle -> handle.createQuery("SELECT pg_backend_pid()").mapTo(Long.class).one());
    this.postmaster = ProcessHandle.of(backend).flatMap(ProcessHandle::parent).orElseThrow();
  }

  /** Returns what all living processes have used so far; the pools keep theirs alive. */
  public Duration used() {
    return postmaster
        .children()
        .map(process -> process.info().totalCpuDuration().orElse(Duration.ZERO))
        .reduce(Duration.ZERO, Duration::plus);
  }
}
