package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.admin.Scope;
import io.github.grpcidempotency.key.Caller;
import java.util.Optional;
import java.util.UUID;
import picocli.CommandLine.Option;

/** A tenant, a project and a user, whose operations a command is about. */
final class WhoseOptions {
  @Option(
      names = "--tenant",
      paramLabel = "NAME",
      description = "Only operations of this tenant; '' for those outside all tenants.")
  private Optional<String> tenant = Optional.empty();

  @Option(
      names = "--project",
      paramLabel = "NAME",
      description = "Only operations of this project; '' for those outside all projects.")
  private Optional<String> project = Optional.empty();

  @Option(names = "--of-user", paramLabel = "UUID", description = "Only operations of this user.")
  private Optional<UUID> id = Optional.empty();

  @Option(
      names = "--subject",
      paramLabel = "TEXT",
      description =
          "Only operations of this user, if users' ids are not UUIDs: the text that the service"
              + " passes to Caller.ofSubject, such as 'auth0|65a1f0'.")
  private Optional<String> subject = Optional.empty();

  /**
   * Returns the tenant and project.
   *
   * @throws CommandFailure if nobody can have such a name
   */
  Scope scope() {
    try {
      return new Scope(tenant, project);
    } catch (IllegalArgumentException malformed) {
      throw new CommandFailure(ExitCode.USAGE, String.valueOf(malformed.getMessage()), malformed);
    }
  }

  /**
   * Returns the user's id.
   *
   * @throws CommandFailure if a user is given twice
   */
  Optional<UUID> user() {
    if (id.isPresent() && subject.isPresent()) {
      throw new CommandFailure(ExitCode.USAGE, "give either --of-user or --subject");
    }
    try {
      return id.or(() -> subject.map(text -> Caller.ofSubject(text).userId()));
    } catch (IllegalArgumentException malformed) {
      throw new CommandFailure(ExitCode.USAGE, String.valueOf(malformed.getMessage()), malformed);
    }
  }
}
