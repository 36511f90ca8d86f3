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
        "Frees a reservation, so that the next call with its key runs the handler. Refused"
            + " while its lease has not ended. First find out whether the effect of the call"
            + " happened: if it did, a retry causes it again.",
    footer = {
      "",
      "Examples:",
      "  idempotency free 019303cd-3f00-7000-8000-000000000001 --dry-run",
      "  idempotency free 019303cd-3f00-7000-8000-000000000001 --reason \"ticket 4711: no order was"
          + " made\""
    })
final class Free implements Callable<Integer> {
  private final Surroundings surroundings;

  @Parameters(
      paramLabel = "OPERATION-ID",
      description = "The id of the operation, as printed by show and list.")
  private UUID id = new UUID(0, 0);

  @Option(
      names = "--even-if-live",
      description =
          "Frees the reservation even if its lease has not ended: the handler's answer is then not"
              + " recorded, and a retry may run at the same time. Prompts for the operation's id"
              + " again.")
  private boolean evenIfLive;

  @Option(names = "--yes", description = "Does not prompt; for scripts.")
  private boolean yes;

  @Option(names = "--dry-run", description = "Prints what would happen, and changes nothing.")
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
                        "If the handler is still running, its answer is lost, and a retry may run"
                            + " at the same time.\n"
                            + "Type the operation's id to free it anyway: "));
    if (typed.isEmpty()) {
      throw new CommandFailure(
          ExitCode.REFUSED,
          "--even-if-live needs --yes, because there is no terminal to ask for" + " confirmation");
    }
    if (!typed.get().strip().equalsIgnoreCase(id.toString())) {
      throw new CommandFailure(ExitCode.REFUSED, "the id is different, so nothing was changed");
    }
  }
}
