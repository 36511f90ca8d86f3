package io.github.grpcidempotency.cli;

import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.Act;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.Erasure;
import io.github.grpcidempotency.admin.ErasureResult;
import io.github.grpcidempotency.admin.Scope;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Erases the records of a user or a tenant. */
@Command(
    name = "erase",
    sortOptions = false,
    description =
        "Deletes all records of one user or one tenant, in batches. The audit keeps a hash of the"
            + " user or tenant, the number of records and the reason. A retry of an erased call"
            + " runs its handler again, so first keep the calls of this user or tenant away."
            + " Refused while one of their handlers is running. A transactional call that has not"
            + " committed is not seen.",
    footer = {
      "",
      "Examples:",
      "  idempotency erase --subject 'auth0|65a1f0' --dry-run",
      "  idempotency erase --tenant acme --wait 10m --yes --reason \"contract ended\""
    })
final class Erase implements Callable<Integer> {
  private final Surroundings surroundings;

  @Mixin private WhoseOptions whose = new WhoseOptions();

  @Option(
      names = "--wait",
      paramLabel = "DURATION",
      description = "Waits this long for running handlers to end: 90s, 15m.")
  private Duration wait = Duration.ZERO;

  @Option(names = "--yes", description = "Does not prompt; for scripts.")
  private boolean yes;

  @Option(names = "--dry-run", description = "Prints the numbers of records, and changes nothing.")
  private boolean dryRun;

  @Mixin private ActOptions act = new ActOptions();
  @Mixin private ConnectionOptions connection = new ConnectionOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  Erase(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    Erasure erasure = erasure();
    Act who = act.act(surroundings, dryRun);
    Administration administration = Database.connect(connection, surroundings).administration();
    if (!dryRun && !yes) {
      ErasureResult expected = administration.erase(erasure, who, Duration.ZERO, true);
      if (isNothing(expected) || (expected.running() > 0 && wait.isZero())) {
        return write(expected).code();
      }
      surroundings.confirm(
          counts(expected) + " would be deleted. Type erase to delete them: ", "erase");
    }
    return write(administration.erase(erasure, who, wait, dryRun)).code();
  }

  private Erasure erasure() {
    Optional<UUID> user = whose.user();
    Scope scope = whose.scope();
    boolean ofTenant = scope.tenant().filter(name -> !name.isEmpty()).isPresent();
    if (user.isPresent() ? !scope.equals(Scope.ALL) : !ofTenant) {
      throw new CommandFailure(
          ExitCode.USAGE,
          "give one user, or one tenant or project of a tenant: --subject, --of-user, or --tenant"
              + " with or without --project");
    }
    return user.map(Erasure::ofUser).orElseGet(() -> Erasure.of(scope));
  }

  private ExitCode write(ErasureResult result) {
    boolean left = result.running() > 0;
    if (output.isJson()) {
      JsonObject json = new JsonObject();
      json.addProperty("erased", result.done());
      json.addProperty("records", result.records());
      json.addProperty("reservations", result.reservations());
      json.addProperty("running", result.running());
      Output.to(surroundings).json(json);
    } else if (result.done() && !isNothing(result)) {
      surroundings
          .out()
          .println(
              counts(result) + " were deleted. A retry of such a call runs its handler again.");
    } else if (dryRun && !isNothing(result)) {
      surroundings
          .out()
          .println(
              counts(result)
                  + " would be deleted, and a retry of such a call would run its handler again."
                  + " Nothing was changed.");
    }
    if (left) {
      surroundings
          .err()
          .printf(
              Locale.ROOT,
              "%s %s running%s%n",
              count(result.running(), "operation"),
              result.running() == 1 ? "is" : "are",
              result.done()
                  ? ", and not deleted: repeat the command later"
                  : ", so nothing is deleted without --wait DURATION");
    }
    if (left) {
      return ExitCode.REFUSED;
    }
    if (isNothing(result)) {
      surroundings.err().println("nothing was found: check the name, which is compared exactly");
      return ExitCode.NEGATIVE;
    }
    return ExitCode.OK;
  }

  private static boolean isNothing(ErasureResult result) {
    return result.records() + result.reservations() + result.running() == 0;
  }

  private static String counts(ErasureResult result) {
    return count(result.records(), "record")
        + " and "
        + count(result.reservations(), "reservation")
        + " without an owner";
  }

  private static String count(long things, String noun) {
    return String.format(Locale.ROOT, things == 1 ? "%,d %s" : "%,d %ss", things, noun);
  }
}
