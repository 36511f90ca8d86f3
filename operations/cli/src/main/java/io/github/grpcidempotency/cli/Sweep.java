package io.github.grpcidempotency.cli;

import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.Act;
import io.github.grpcidempotency.admin.Administration;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Deletes expired records. */
@Command(
    name = "sweep",
    sortOptions = false,
    description =
        "Deletes all expired records, in batches. The service does this by itself; use this"
            + " command if the sweep lags.",
    footer = {"", "Examples:", "  idempotency sweep --reason \"the sweeper was switched off\""})
final class Sweep implements Callable<Integer> {
  private final Surroundings surroundings;

  @Mixin private ActOptions act = new ActOptions();
  @Mixin private ConnectionOptions connection = new ConnectionOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  Sweep(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    Act who = act.act(surroundings);
    Administration administration = Database.connect(connection, surroundings).administration();
    long swept = administration.sweep(who);
    if (output.isJson()) {
      JsonObject json = new JsonObject();
      json.addProperty("swept", swept);
      Output.to(surroundings).json(json);
    } else {
      surroundings.out().printf(Locale.ROOT, "expired records deleted: %,d%n", swept);
    }
    return ExitCode.OK.code();
  }
}
