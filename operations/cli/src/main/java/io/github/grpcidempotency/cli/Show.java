package io.github.grpcidempotency.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.Act;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.AuditEntry;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.key.Caller;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
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
            + " attempt, lease and server, its expiry, and the actions of operators on it.",
    footer = {
      "",
      "Examples:",
      "  idempotency show 019303cd-3f00-7000-8000-000000000001",
      "  idempotency show order-4711 --namespace acme/apollo",
      "  idempotency show - < key.txt",
      "  idempotency show 019303cd-3f00-7000-8000-000000000001 --contents \\",
      "      --descriptors orders.desc --reason \"ticket 4711\""
    })
final class Show implements Callable<Integer> {
  private static final Pattern UUID_TEXT =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
  private static final int ACTS = 20;

  private final Surroundings surroundings;

  @Parameters(
      paramLabel = "KEY|OPERATION-ID",
      description =
          "A key as sent by the client, or the id of an operation as in trailers, logs and the"
              + " output of list. With -, it is read from the standard input, so that a key is not"
              + " kept in the shell's history.")
  private String subject = "";

  @Option(
      names = "--namespace",
      paramLabel = "NAME",
      description =
          "The key's tenant, or tenant and project: acme or acme/apollo. Default: a key without"
              + " a namespace.")
  private String namespace = "";

  @Option(
      names = "--of-user",
      paramLabel = "UUID",
      description = "Only the operation of this user, if several users have the same key.")
  private Optional<UUID> user = Optional.empty();

  @Option(names = "--keys", description = "Shows the key of an operation that is given by its id.")
  private boolean keys;

  @Option(
      names = "--contents",
      description =
          "Shows the recorded answer too. This needs a separate right and a reason, and is"
              + " audited.")
  private boolean contents;

  @Option(
      names = "--descriptors",
      paramLabel = "FILE",
      description =
          "Decodes the answer with the service's schema: the output of protoc --include_imports"
              + " --descriptor_set_out.")
  private Optional<Path> descriptors = Optional.empty();

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
    Optional<Schema> schema = descriptors.map(Schema::read);
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
                          .map(recorded -> ContentsView.of(recorded, operation.procedure(), schema))
                          .orElseGet(ContentsView::none)),
              administration.audit(Optional.of(operation.id()), Optional.empty(), ACTS));
      if (output.isJson()) {
        Output.to(surroundings).json(page.json());
      } else {
        page.write(Output.to(surroundings));
      }
    }
    return ExitCode.OK.code();
  }

  private record Found(OperationRecord operation, boolean byKey) {}

  /** Looks for an operation with this id first, because a client's key may be a UUID too. */
  private List<Found> find(Administration administration, String wanted) {
    boolean isUuid = UUID_TEXT.matcher(wanted).matches();
    Optional<OperationRecord> byId =
        isUuid ? administration.find(UUID.fromString(wanted)) : Optional.empty();
    if (byId.isPresent()) {
      return List.of(new Found(byId.get(), false));
    }
    String key = isUuid ? wanted.toLowerCase(Locale.ROOT) : wanted;
    return administration.findKey(key, inFull(namespace)).stream()
        .filter(operation -> user.isEmpty() || user.get().equals(operation.userId()))
        .map(operation -> new Found(operation, true))
        .toList();
  }

  /** Returns the stored namespace. A tenant alone means its calls without a project. */
  private static String inFull(String namespace) {
    return namespace.isEmpty() || namespace.contains("/")
        ? namespace
        : namespace + "/" + Caller.ABOVE;
  }

  /**
   * Reports an operation that is gone. The audit table still contains what operators have freed or
   * forgotten.
   */
  private int tellOfTheGone(Administration administration, String wanted) {
    if (user.isPresent() && administration.isRunning(wanted, inFull(namespace), user.get())) {
      surroundings
          .out()
          .println(
              "A transaction with this key is running. It has no record and no id before it"
                  + " commits.");
      return ExitCode.OK.code();
    }
    surroundings
        .err()
        .println(
            "there is no record of it%s"
                .formatted(
                    namespace.isEmpty()
                        ? ", neither as an operation nor as a key without a namespace (--namespace)"
                        : " in the namespace " + TextWidth.printable(namespace)));
    if (UUID_TEXT.matcher(wanted).matches()) {
      for (AuditEntry entry :
          administration.audit(Optional.of(UUID.fromString(wanted)), Optional.empty(), ACTS)) {
        surroundings.err().println(TextWidth.printable(AuditView.line(entry)));
      }
    }
    return ExitCode.NEGATIVE.code();
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
      output.fields(Map.of("audit", audit.isEmpty() ? "no actions of operators" : ""));
      audit.forEach(entry -> output.line("  " + TextWidth.printable(AuditView.line(entry))));
      output.line("");
    }
  }
}
