package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.admin.Act;
import io.github.grpcidempotency.admin.ActResult;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Frees a reservation. */
@Command(
    name = "free",
    sortOptions = false,
    description =
        "Frees a reservation, so that the next call with its key runs. Refuses while its owner"
            + " lives. Whether the effect of the call happened is for you to find out first: a"
            + " retry does it again.",
    footer = {
      "",
      "Examples:",
      "  idempotency free 019303cd-3f00-7000-8000-000000000001 --dry-run",
      "  idempotency free 019303cd-3f00-7000-8000-000000000001 --reason \"ticket 4711: no order was"
          + " made\""
    })
final class Free implements Callable<Integer> {
  private final Surroundings surroundings;

  @Parameters(paramLabel = "OPERATION-ID", description = "The operation, as show and list tell it.")
  private UUID id = new UUID(0, 0);

  @Option(
      names = "--even-if-live",
      description =
          "Frees it even if its owner lives: its answer is then not recorded, and a retry may run"
              + " beside it. Asks for the operation's id once more.")
  private boolean evenIfLive;

  @Option(names = "--yes", description = "Does not ask again; for scripts.")
  private boolean yes;

  @Option(names = "--dry-run", description = "Only says what would happen.")
  private boolean dryRun;

  @Mixin private ActOptions act = new ActOptions();
  @Mixin private ConnectionOptions connection = new ConnectionOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  Free(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    Act who = dryRun ? act.actOr(surroundings, "dry run") : act.act(surroundings);
    if (evenIfLive && !dryRun && !yes) {
      confirm();
    }
    ActResult result =
        Database.connect(connection, surroundings)
            .administration()
            .free(id, who, evenIfLive, dryRun);
    return new Verdict(id, "freed", result).write(surroundings, output);
  }

  private void confirm() {
    Optional<String> typed =
        surroundings
            .terminal()
            .flatMap(
                terminal ->
                    terminal.ask(
                        "If its owner lives, its answer is lost, and a retry may run beside it."
                            + "\nType the operation's id to free it all the same: "));
    if (typed.isEmpty()) {
      throw new CommandFailure(
          ExitCode.REFUSED, "--even-if-live needs --yes where nobody can be asked");
    }
    if (!typed.get().strip().equalsIgnoreCase(id.toString())) {
      throw new CommandFailure(ExitCode.REFUSED, "that is another id: nothing has changed");
    }
  }
}
