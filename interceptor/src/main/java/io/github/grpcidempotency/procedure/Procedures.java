package io.github.grpcidempotency.procedure;

import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * All procedures of a server. Building an interceptor with them checks them together with the
 * store. Immutable.
 */
public final class Procedures {
  private final Map<String, Procedure> byName;
  private final List<String> problems;

  private Procedures(Map<String, Procedure> byName, List<String> problems) {
    this.byName = Map.copyOf(byName);
    this.problems = List.copyOf(problems);
  }

  /** Returns the procedures described. */
  public static Procedures of(Procedure... procedures) {
    Builder builder = builder();
    for (Procedure procedure : procedures) {
      builder.add(procedure);
    }
    return builder.build();
  }

  /** Starts a collection of procedures. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Returns the problems of the descriptors, one sentence each; empty if there are none. A server
   * with any problem does not start: see {@link SetupException}.
   */
  public List<String> problems() {
    return problems;
  }

  /** Returns the descriptor of a method by its full name, if it has one. */
  public Optional<Procedure> find(String fullMethodName) {
    return Optional.ofNullable(byName.get(fullMethodName));
  }

  /** Returns every descriptor, in no particular order. */
  public Collection<Procedure> all() {
    return byName.values();
  }

  /** Collects procedures. Not thread-safe. */
  public static final class Builder {
    private final Map<String, Function<RetentionClasses, Procedure>> annotated =
        new LinkedHashMap<>();
    private final List<Procedure> described = new ArrayList<>();

    private RetentionClasses retentionClasses = RetentionClasses.presets();

    private Builder() {}

    /** Adds one descriptor. It replaces the option of the same method. */
    public Builder add(Procedure procedure) {
      described.add(procedure);
      return this;
    }

    /**
     * Sets the retention classes that the options of {@link #addAnnotated} may name, whether they
     * were added before or after. The default is the presets.
     */
    public Builder retentionClasses(RetentionClasses classes) {
      this.retentionClasses = classes;
      return this;
    }

    /**
     * Adds every method of a service that carries the {@code (idempotency.v1.procedure)} option.
     *
     * @param statuses finds the status resolver of a resource type; empty for one without
     *     asynchronous work
     */
    public Builder addAnnotated(
        ServiceDescriptor service, Function<ResourceType, Optional<StatusResolver>> statuses) {
      for (MethodDescriptor<?, ?> method : service.getMethods()) {
        if (MethodOption.find(method).isPresent()) {
          annotated.put(
              method.getFullMethodName(), classes -> fromSchema(method, statuses, classes));
        }
      }
      return this;
    }

    @SuppressWarnings("unchecked") // only protobuf methods carry the option
    private static Procedure fromSchema(
        MethodDescriptor<?, ?> method,
        Function<ResourceType, Optional<StatusResolver>> statuses,
        RetentionClasses classes) {
      ProcedureBuilder<Message> builder =
          Procedure.annotated((MethodDescriptor<Message, Message>) method, classes);
      builder.build().resourceType().flatMap(statuses).ifPresent(builder::status);
      return builder.build();
    }

    /** Returns the procedures described. */
    public Procedures build() {
      List<String> problems = new ArrayList<>();
      Map<String, Procedure> byName = new LinkedHashMap<>();
      for (Procedure procedure : described) {
        if (byName.put(procedure.name(), procedure) != null) {
          problems.add(procedure.name() + ": described twice");
        }
      }
      annotated.forEach(
          (name, described) ->
              byName.computeIfAbsent(name, absent -> described.apply(retentionClasses)));
      byName.values().forEach(procedure -> problems.addAll(ProcedureCheck.problems(procedure)));
      return new Procedures(byName, problems);
    }
  }
}
