package io.github.grpcidempotency.benchmarks.database;

import java.time.Duration;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** The processor time of the database's processes. */
public final class ServerCpu {
  private final ProcessHandle postmaster;

  /** Finds the server's processes; it runs on this machine. */
  public ServerCpu(Jdbi superuser) {
    this.postmaster = superuser.withHandle(ServerCpu::postmaster);
  }

  /** The handle's own backend lives as long as the handle is open. */
  static ProcessHandle postmaster(Handle open) {
    long backend = open.createQuery("SELECT pg_backend_pid()").mapTo(Long.class).one();
    return ProcessHandle.of(backend).flatMap(ProcessHandle::parent).orElseThrow();
  }

  /**
   * Returns the time that all living processes have used so far. The pools keep their processes
   * alive.
   */
  public Duration used() {
    return postmaster
        .children()
        .map(process -> process.info().totalCpuDuration().orElse(Duration.ZERO))
        .reduce(Duration.ZERO, Duration::plus);
  }
}
