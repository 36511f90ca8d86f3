package io.github.grpcidempotency.fault;

import static java.util.stream.Collectors.joining;

import io.github.grpcidempotency.test.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
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
    String command =
        pids.stream().map(String::valueOf).collect(joining(" ", "kill -" + name + " ", ""));
    try {
      Program.BASH.process("-c", command).redirectErrorStream(true).start().onExit().join();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
