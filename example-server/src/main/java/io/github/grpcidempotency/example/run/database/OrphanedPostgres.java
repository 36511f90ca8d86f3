package io.github.grpcidempotency.example.run.database;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The PostgreSQL that a server killed with {@code kill -9} leaves running. It is stopped, not
 * reused, so that every server runs with its own settings.
 */
final class OrphanedPostgres {
  private static final Logger log = LoggerFactory.getLogger(OrphanedPostgres.class);
  private static final long STOP_WITHIN_SECONDS = 30;

  private final ProcessHandle postmaster;

  private OrphanedPostgres(ProcessHandle postmaster) {
    this.postmaster = postmaster;
  }

  /** Finds the PostgreSQL that runs on a directory that no server holds any more. */
  static Optional<OrphanedPostgres> in(Path postgresDirectory) {
    return pid(postgresDirectory.resolve("postmaster.pid"))
        .flatMap(ProcessHandle::of)
        .filter(process -> runsOn(process, postgresDirectory))
        .map(OrphanedPostgres::new);
  }

  private static Optional<Long> pid(Path pidFile) {
    try {
      List<String> lines = Files.readAllLines(pidFile);
      return Optional.of(Long.valueOf(lines.get(0).strip()));
    } catch (IOException | IndexOutOfBoundsException | NumberFormatException e) {
      return Optional.empty();
    }
  }

  /** Process ids are reused, so only a process that was started on this directory counts. */
  private static boolean runsOn(ProcessHandle process, Path postgresDirectory) {
    return process
        .info()
        .arguments()
        .map(arguments -> Arrays.asList(arguments).contains(postgresDirectory.toString()))
        .orElse(false);
  }

  /**
   * Stops it as {@code pg_ctl stop -m fast} would, and waits until it is gone.
   *
   * @throws StartupFailure if it does not stop
   */
  void stop() {
    log.info("Stopping PostgreSQL (process {}), which a killed server left behind", pid());
    try {
      new ProcessBuilder("kill", "-INT", String.valueOf(pid())).start().waitFor();
      postmaster.onExit().get(STOP_WITHIN_SECONDS, TimeUnit.SECONDS);
    } catch (IOException | ExecutionException | TimeoutException e) {
      throw new StartupFailure(
          "PostgreSQL (process %d), which a killed server left behind, does not stop."
              .formatted(pid()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StartupFailure("The start was interrupted.");
    }
  }

  private long pid() {
    return postmaster.pid();
  }
}
