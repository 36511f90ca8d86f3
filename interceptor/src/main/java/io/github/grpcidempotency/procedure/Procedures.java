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

/** All procedures of a server, checked as a whole. Immutable. */
public final class Procedures {
  private final Map<String, Procedure> byName;

  private Procedures(Map<String, Procedure> byName) {
    this.byName = Map.copyOf(byName);
  }

  /**
   * Returns the procedures described.
   *
   * @throws IllegalArgumentException if anything is wrong with them; the message lists all of it
   */
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
    private final Map<String, Procedure> annotated = new LinkedHashMap<>();
    private final List<Procedure> described = new ArrayList<>();
    private final List<String> wrongOptions = new ArrayList<>();

    private Builder() {}

    /** Adds one descriptor. It overrides what the schema says of the same method. */
    public Builder add(Procedure procedure) {
      described.add(procedure);
      return this;
    }

    /**
     * Adds every method of a service that carries the {@code (idempotency.v1.procedure)} option.
     * What is wrong with an option is told by {@link #build}.
     *
     * @param statuses who tells the status of a resource type, empty where there is no asynchronous
     *     work
     */
    public Builder addAnnotated(
        ServiceDescriptor service, Function<ResourceType, Optional<StatusResolver>> statuses) {
      for (MethodDescriptor<?, ?> method : service.getMethods()) {
        if (MethodOption.find(method).isPresent()) {
          addAnnotated(method, statuses);
        }
      }
      return this;
    }

    private void addAnnotated(
        MethodDescriptor<?, ?> method, Function<ResourceType, Optional<StatusResolver>> statuses) {
      try {
        annotated.put(method.getFullMethodName(), fromSchema(method, statuses));
      } catch (IllegalArgumentException wrong) {
        wrongOptions.add(wrong.getMessage());
      }
    }

    @SuppressWarnings("unchecked") // only protobuf methods carry the option
    private static Procedure fromSchema(
        MethodDescriptor<?, ?> method, Function<ResourceType, Optional<StatusResolver>> statuses) {
      ProcedureBuilder<Message> builder =
          Procedure.annotated((MethodDescriptor<Message, Message>) method);
      builder.build().resourceType().flatMap(statuses).ifPresent(builder::status);
      return builder.build();
    }

    /**
     * Checks the descriptors and returns them.
     *
     * @throws IllegalArgumentException if anything is wrong with them; the message lists all of it
     */
    public Procedures build() {
      List<String> problems = new ArrayList<>(wrongOptions);
      Map<String, Procedure> byName = new LinkedHashMap<>();
      for (Procedure procedure : described) {
        if (byName.put(procedure.name(), procedure) != null) {
          problems.add(procedure.name() + ": described twice");
        }
      }
      annotated.forEach(byName::putIfAbsent);
      byName.values().forEach(procedure -> problems.addAll(ProcedureCheck.problems(procedure)));
      if (!problems.isEmpty()) {
        throw new IllegalArgumentException(
            "these procedures cannot be made idempotent:\n  " + String.join("\n  ", problems));
      }
      return new Procedures(byName);
    }
  }
}
