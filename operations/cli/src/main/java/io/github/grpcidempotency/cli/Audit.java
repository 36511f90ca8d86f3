package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.admin.AuditEntry;
import io.github.grpcidempotency.admin.AuditQuery;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists the actions of operators. */
@Command(
    name = "audit",
    sortOptions = false,
    description = "Lists the actions of operators, newest first.",
    footer = {
      "",
      "Examples:",
      "  idempotency audit",
      "  idempotency audit 019303cd-3f00-7000-8000-000000000001",
      "  idempotency audit --by ada@console-1 --act free --since 2026-11-24T03:00:00Z",
      "  idempotency audit --limit 1000 --output json"
    })
final class Audit implements Callable<Integer> {
  private static final int MAX_LIMIT = 1_000;

  private final Surroundings surroundings;

  @Parameters(
      arity = "0..1",
      paramLabel = "OPERATION-ID",
      description = "Only actions on this operation, even if the operation is gone.")
  private Optional<UUID> id = Optional.empty();

  @Option(
      names = "--key",
      paramLabel = "KEY",
      description =
          "Only actions on operations of this key, written as for show. The audit contains a hash"
              + " of it.")
  private Optional<String> key = Optional.empty();

  @Mixin private WhoseOptions whose = new WhoseOptions();

  @Option(names = "--by", paramLabel = "NAME", description = "Only actions of this actor.")
  private Optional<String> by = Optional.empty();

  @Option(
      names = "--act",
      paramLabel = "ACT",
      description = "Only free, forget, erase, read_contents or sweep.")
  private Optional<String> act = Optional.empty();

  @Option(
      names = "--since",
      paramLabel = "TIME",
      description = "Only actions at this time or later: 2026-11-24T03:00:00Z.")
  private Optional<Instant> since = Optional.empty();

  @Option(names = "--until", paramLabel = "TIME", description = "Only actions before this time.")
  private Optional<Instant> until = Optional.empty();

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "50",
      description = "The maximum number of actions, up to 1000. Default: ${DEFAULT-VALUE}.")
  private int limit;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  Audit(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new CommandFailure(ExitCode.USAGE, "--limit must be 1 to " + MAX_LIMIT);
    }
    AuditQuery query = query();
    List<AuditEntry> entries =
        Database.connect(connection, surroundings).administration().audit(query);
    Output results = Output.to(surroundings);
    if (output.isJson()) {
      entries.forEach(entry -> results.json(AuditView.json(entry)));
    } else if (entries.isEmpty()) {
      surroundings.err().println("no operator has done anything that matches");
    } else {
      results.table(new AuditView(entries).table());
    }
    return ExitCode.OK.code();
  }

  private AuditQuery query() {
    try {
      return new AuditQuery(
          id, key, whose.scope(), whose.user(), by, act, since, until, Optional.empty(), limit);
    } catch (IllegalArgumentException noSuchAct) {
      throw new CommandFailure(ExitCode.USAGE, "--act: " + noSuchAct.getMessage(), noSuchAct);
    }
  }
}
