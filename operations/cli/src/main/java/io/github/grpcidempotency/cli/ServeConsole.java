package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.Statistics;
import io.github.grpcidempotency.admin.console.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Serves the console on this computer until it is stopped. */
@Command(
    name = "console",
    sortOptions = false,
    description =
        "Serves a web page that shows the operations in flight, finds a key, and frees or"
            + " forgets operations with a reason. Only a browser on this computer can use it, with"
            + " a password that is generated each time. Ctrl-C stops it.",
    footer = {"", "Examples:", "  idempotency console", "  idempotency console --port 0 --keys"})
final class ServeConsole implements Callable<Integer> {
  private final Surroundings surroundings;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "7070",
      description = "The port to listen on; 0 for any free port. Default: ${DEFAULT-VALUE}.")
  private int port;

  @Option(
      names = "--keys",
      description = "Shows the client's key on the page of an operation. By default it is hidden.")
  private boolean keys;

  @Option(
      names = "--trace-link",
      paramLabel = "URL",
      description =
          "Links an operation's trace to a tool that shows it: https://jaeger/trace/{trace}.")
  private Optional<String> traceLink = Optional.empty();

  @Option(
      names = "--actor",
      paramLabel = "NAME",
      description =
          "The user's name. The audit table keeps it beside the database role. Default:"
              + " IDEMPOTENCY_ACTOR, or the user and name of this computer.")
  private Optional<String> actor = Optional.empty();

  @Mixin private ConnectionOptions connection = new ConnectionOptions();

  ServeConsole(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    Administration administration = Database.connect(connection, surroundings).administration();
    Statistics readable =
        administration.statistics(); // Reports missing rights now rather than on the first page.
    String name = surroundings.actor(actor);
    try (Console console = Console.start(administration, name, port, keys, traceLink)) {
      PrintWriter out = surroundings.out();
      out.printf(
          "The console is at %s%nuser      %s%npassword  %s%n",
          console.uri(), name, console.password());
      out.printf("About %d records. Ctrl-C stops it.%n", readable.rows());
      out.flush();
      new CountDownLatch(1).await();
    } catch (IOException refused) {
      throw new CommandFailure(
          ExitCode.USAGE, "port %d: %s".formatted(port, refused.getMessage()), refused);
    } catch (IllegalArgumentException refused) {
      throw new CommandFailure(ExitCode.USAGE, String.valueOf(refused.getMessage()), refused);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    return ExitCode.OK.code();
  }
}
