package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.admin.Act;
import io.github.grpcidempotency.admin.ActResult;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Forgets a recorded outcome. */
@Command(
    name = "forget",
    sortOptions = false,
    description =
        "Forgets a recorded outcome: the next call with its key runs the handler again, and"
            + " its effect happens again.",
    footer = {
      "",
      "Examples:",
      "  idempotency forget 019303cd-3f00-7000-8000-000000000002 --dry-run",
      "  idempotency forget 019303cd-3f00-7000-8000-000000000002 --reason \"ticket 4712: the error"
          + " was ours\""
    })
final class Forget implements Callable<Integer> {
  private final Surroundings surroundings;

  @Parameters(
      paramLabel = "OPERATION-ID",
      description = "The id of the operation, as printed by show and list.")
  private UUID id = new UUID(0, 0);

  @Option(names = "--dry-run", description = "Prints what would happen, and changes nothing.")
  private boolean dryRun;

  @Mixin private ActOptions act = new ActOptions();
  @Mixin private ConnectionOptions connection = new ConnectionOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  Forget(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    Act who = act.act(surroundings, dryRun);
    ActResult result =
        Database.connect(connection, surroundings).administration().forget(id, who, dryRun);
    return new Verdict(id, "forgotten", result).write(surroundings, output);
  }
}
