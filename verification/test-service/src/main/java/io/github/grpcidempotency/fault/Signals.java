package io.github.grpcidempotency.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Signals to single processes. */
public final class Signals {
  private Signals() {}

  /** Sends a signal by its name. Does nothing if the process does not exist. */
  public static void send(String name, long pid) {
    send(name, List.of(pid));
  }

  /** Sends a signal to several processes, almost at the same moment. */
  public static void send(String name, Collection<Long> pids) {
    if (pids.isEmpty()) {
      return;
    }
    List<String> command = new ArrayList<>(List.of("kill", "-" + name));
    pids.forEach(pid -> command.add(Long.toString(pid)));
    try {
      new ProcessBuilder(command).redirectErrorStream(true).start().onExit().join();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
