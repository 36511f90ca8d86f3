package io.github.grpcidempotency.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.Act;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.AuditEntry;
import io.github.grpcidempotency.admin.AuditQuery;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.admin.OperationState;
import io.github.grpcidempotency.admin.RunningTransaction;
import io.github.grpcidempotency.admin.Scope;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows one operation with all details. */
@Command(
    name = "show",
    sortOptions = false,
    description =
        "Shows a key or an operation with all details: its caller, procedure and times, its"
            + " attempts, lease and servers, its expiry, and the actions of operators on it and on"
            + " earlier operations of its key. A key is searched in all tenants and projects.",
    footer = {
      "",
      "Examples:",
      "  idempotency show 019303cd-3f00-7000-8000-000000000001",
      "  idempotency show order-4711",
      "  idempotency show order-4711 --tenant acme --subject 'auth0|65a1f0'",
      "  idempotency show - < key.txt",
      "  idempotency show 019303cd-3f00-7000-8000-000000000001 --contents --reason \"ticket 4711\""
    })
final class Show implements Callable<Integer> {
  private static final Pattern UUID_TEXT =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
  private static final int ACTS = 20;

  private final Surroundings surroundings;

  @Parameters(
      paramLabel = "KEY|OPERATION-ID",
      description =
          "A key as sent by the client, with or without the prefix of its key source; or the id of"
              + " an operation as in trailers, logs and the output of list. With -, it is read from"
              + " the standard input, so that a key is not kept in the shell's history.")
  private String subject = "";

  @Mixin private WhoseOptions whose = new WhoseOptions();

  @Option(names = "--keys", description = "Shows the key of an operation that is given by its id.")
  private boolean keys;

  @Option(
      names = "--contents",
      description =
          "Shows the recorded answer too: an error as JSON, and a response in hexadecimal, which"
              + " protoc --decode reads. This needs a separate right and a reason, and is"
              + " audited.")
  private boolean contents;

  @Mixin private ActOptions act = new ActOptions();
  @Mixin private ConnectionOptions connection = new ConnectionOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  Show(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    String wanted = subject.equals("-") ? readSubject() : subject;
    Optional<Act> reader = contents ? Optional.of(act.act(surroundings)) : Optional.empty();
    Database database = Database.connect(connection, surroundings);
    Administration administration = database.administration();
    List<Found> found = find(administration, wanted);
    if (found.isEmpty()) {
      return tellOfTheGone(administration, wanted);
    }
    for (Found one : found) {
      OperationRecord operation = one.operation();
      Page page =
          new Page(
              new OperationView(operation, one.byKey() || keys),
              reader.map(
                  who ->
                      administration
                          .contents(operation.id(), who)
                          .map(ContentsView::of)
                          .orElseGet(ContentsView::none)),
              administration.audit(AuditQuery.newest(ACTS).ofKeyOf(operation)));
      if (output.isJson()) {
        Output.to(surroundings).json(page.json());
      } else {
        page.write(Output.to(surroundings));
      }
    }
    if (!output.isJson() && found.stream().allMatch(Found::byKey)) {
      found.stream()
          .map(one -> one.operation().key())
          .distinct()
          .forEach(key -> tellOfOthers(administration, key, found));
    }
    return ExitCode.OK.code();
  }

  /** Prints the actions on operations of the key that none of the shown operations has replaced. */
  private void tellOfOthers(Administration administration, String key, List<Found> found) {
    List<AuditEntry> acts =
        administration
            .audit(AuditQuery.newest(ACTS).ofKey(key, whose.scope(), whose.user()))
            .stream()
            .filter(entry -> found.stream().noneMatch(one -> one.has(entry)))
            .toList();
    if (!acts.isEmpty()) {
      Output results = Output.to(surroundings);
      results.fields(Map.of("others", "operations of this key without a record"));
      for (AuditEntry entry : acts) {
        results.line("  " + Printable.text(AuditView.line(entry)));
        results.line("    " + Printable.text(AuditView.operation(entry)));
      }
    }
  }

  private record Found(OperationRecord operation, boolean byKey) {
    /** Returns whether the page of this operation shows an action. */
    boolean has(AuditEntry entry) {
      return entry.userId().equals(Optional.of(operation.userId()))
          && entry.tenant().equals(Optional.of(operation.tenant()))
          && entry.project().equals(Optional.of(operation.project()));
    }
  }

  /** Looks for an operation with this id first, because a client's key may be a UUID too. */
  private List<Found> find(Administration administration, String wanted) {
    Optional<UUID> user = whose.user();
    Optional<OperationRecord> byId = id(wanted).flatMap(administration::find);
    if (byId.isPresent()) {
      return List.of(new Found(byId.get(), false));
    }
    return administration.findKey(key(wanted), whose.scope()).stream()
        .filter(operation -> user.isEmpty() || user.get().equals(operation.userId()))
        .map(operation -> new Found(operation, true))
        .toList();
  }

  private static Optional<UUID> id(String wanted) {
    return UUID_TEXT.matcher(wanted).matches()
        ? Optional.of(UUID.fromString(wanted))
        : Optional.empty();
  }

  private static String key(String wanted) {
    return id(wanted).isPresent() ? wanted.toLowerCase(Locale.ROOT) : wanted;
  }

  /**
   * Reports a key or an operation without a record. The audit table still contains what operators
   * have done with it.
   */
  private int tellOfTheGone(Administration administration, String wanted) {
    Optional<UUID> user = whose.user();
    List<RunningTransaction> running =
        user.map(known -> administration.transactions(key(wanted), whose.scope(), known))
            .orElse(List.of());
    if (!running.isEmpty()) {
      Output results = Output.to(surroundings);
      for (RunningTransaction transaction : running) {
        if (output.isJson()) {
          results.json(json(transaction));
        } else {
          results.line(Printable.text(transaction.meaning()));
        }
      }
      return ExitCode.OK.code();
    }
    AuditQuery newest = AuditQuery.newest(ACTS);
    List<AuditEntry> acts =
        new ArrayList<>(
            id(wanted).map(newest::ofOperation).map(administration::audit).orElse(List.of()));
    acts.addAll(administration.audit(newest.ofKey(key(wanted), whose.scope(), user)));
    PrintWriter err = surroundings.err();
    err.println(
        "there is no record of it, neither as an operation nor as a key%s%s"
            .formatted(user.isPresent() ? " of this user" : "", in(whose.scope())));
    for (AuditEntry entry : acts) {
      err.println(Printable.text(AuditView.line(entry)));
      err.println("  " + Printable.text(AuditView.operation(entry)));
    }
    err.println(
        "a key such as ci:order-4711 is found without the prefix only if a recent record has it");
    err.println(
        "not known: operations that have expired, were erased, or have failed without a record, and"
            + " transactional calls that have not committed"
            + " (--of-user or --subject looks for one)");
    return ExitCode.NEGATIVE.code();
  }

  private static JsonObject json(RunningTransaction transaction) {
    JsonObject json = new JsonObject();
    json.addProperty("state", OperationView.word(OperationState.RUNNING));
    json.addProperty("execution", "transactional");
    json.addProperty("process", transaction.process().orElse(null));
    json.addProperty("application", transaction.application().orElse(null));
    json.addProperty("address", transaction.address().orElse(null));
    json.addProperty("since", transaction.since().map(Instant::toString).orElse(null));
    return json;
  }

  private static String in(Scope scope) {
    return scope.tenant().map(name -> " in the tenant '" + Printable.text(name) + "'").orElse("")
        + scope.project().map(name -> " in the project '" + Printable.text(name) + "'").orElse("");
  }

  private String readSubject() {
    try {
      String line = new BufferedReader(surroundings.in()).readLine();
      if (line != null && !line.isBlank()) {
        return line.strip();
      }
    } catch (IOException unreadable) {
      throw new CommandFailure(ExitCode.USAGE, "the standard input could not be read", unreadable);
    }
    throw new CommandFailure(ExitCode.USAGE, "the standard input contains no key");
  }

  /** The output for one operation. */
  private record Page(OperationView view, Optional<ContentsView> contents, List<AuditEntry> audit) {

    JsonObject json() {
      JsonObject json = view.json();
      json.add("contents", contents.isPresent() ? contents.get().json() : JsonNull.INSTANCE);
      JsonArray acts = new JsonArray();
      audit.forEach(entry -> acts.add(AuditView.json(entry)));
      json.add("audit", acts);
      return json;
    }

    void write(Output output) {
      output.fields(view.fields());
      contents.ifPresent(shown -> shown.write(output));
      output.fields(Map.of("audit", audit.isEmpty() ? "no actions of operators on this key" : ""));
      Optional<UUID> id = Optional.of(view.operation().id());
      for (AuditEntry entry : audit) {
        output.line("  " + Printable.text(AuditView.line(entry)));
        if (!entry.operationId().equals(id)) {
          output.line("    " + Printable.text(AuditView.operation(entry)));
        }
      }
      output.fields(
          Map.of(
              "not known",
              "operations of this key that have expired, were erased, or have failed without a"
                  + " record; a transactional call that has not committed"));
      output.line("");
    }
  }
}
