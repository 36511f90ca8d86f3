package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.admin.Act;
import io.github.grpcidempotency.admin.ActResult;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.OperationPage;
import io.github.grpcidempotency.admin.OperationQuery;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.OperationState;
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
            + " happened: if it did, a retry causes it again. With --stuck --server, frees all"
            + " stuck reservations of a server that is gone.",
    footer = {
      "",
      "Examples:",
      "  idempotency free 019303cd-3f00-7000-8000-000000000001 --dry-run",
      "  idempotency free 019303cd-3f00-7000-8000-000000000001 --reason \"ticket 4711: no order was"
          + " made\"",
      "  idempotency free --stuck --server orders-7d9f:4711 --reason \"the node is gone\""
    })
final class Free implements Callable<Integer> {
  private final Surroundings surroundings;

  @Parameters(
      arity = "0..1",
      paramLabel = "OPERATION-ID",
      description = "The id of the operation, as printed by show and list.")
  private Optional<UUID> id = Optional.empty();

  @Option(names = "--stuck", description = "Frees all stuck reservations of the given server.")
  private boolean stuck;

  @Option(
      names = "--server",
      paramLabel = "NAME",
      description = "With --stuck: the server, as printed by show and list.")
  private Optional<String> server = Optional.empty();

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
    if (id.isPresent() == stuck || stuck != server.isPresent() || (stuck && evenIfLive)) {
      throw new CommandFailure(
          ExitCode.USAGE, "give either an operation's id, or --stuck --server NAME");
    }
    Act who = act.act(surroundings, dryRun);
    if (evenIfLive && !dryRun && !yes) {
      surroundings.confirm(
          "If the handler is still running, its answer is lost, and a retry may run at the same"
              + " time.\nType the operation's id to free it anyway: ",
          id.orElseThrow().toString());
    }
    Administration administration = Database.connect(connection, surroundings).administration();
    return id.map(one -> free(administration, one, who))
        .orElseGet(() -> freeStuck(administration, who));
  }

  private int free(Administration administration, UUID operation, Act who) {
    ActResult result = administration.free(operation, who, evenIfLive, dryRun);
    return new Verdict(operation, "freed", result).write(surroundings, output);
  }

  /** Frees each one by itself, so that each is judged, and audited, by itself. */
  private int freeStuck(Administration administration, Act who) {
    OperationQuery query = OperationQuery.all().in(OperationState.STUCK).on(server.orElseThrow());
    int worst = ExitCode.OK.code();
    int count = 0;
    Optional<String> place = Optional.empty();
    do {
      OperationPage page = administration.list(place.map(query::after).orElse(query));
      for (OperationRecord operation : page.operations()) {
        worst = Math.max(worst, free(administration, operation.id(), who));
        count++;
      }
      place = page.next();
    } while (place.isPresent());
    if (count == 0) {
      surroundings.err().println("no operation of this server is stuck: nothing needs to be done");
    }
    return worst;
  }
}
