package io.github.grpcidempotency.procedure;

import com.google.protobuf.Message;
import io.github.grpcidempotency.procedure.internal.MethodSchema;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.resource.StatusResolver;
import io.github.grpcidempotency.resource.StatusSource;
import io.github.grpcidempotency.store.SetupException;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

  public static Procedures of(Procedure... procedures) {
    Builder builder = builder();
    for (Procedure procedure : procedures) {
      builder.add(procedure);
    }
    return builder.build();
  }

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

  /** Collects descriptors. Not thread-safe. */
  public static final class Builder {
    private final Map<String, MethodDescriptor<Message, Message>> annotated = new LinkedHashMap<>();
    private final List<Procedure> described = new ArrayList<>();
    private final List<String> services = new ArrayList<>();
    private final Map<String, StatusSource> statuses = new LinkedHashMap<>();
    private Function<MethodDescriptor<?, ?>, Optional<Execution>> defaultExecution =
        method -> Optional.empty();

    private Builder() {}

    /** Adds one descriptor. It replaces the option of the same method. */
    public Builder add(Procedure procedure) {
      described.add(procedure);
      return this;
    }

    /**
     * Adds every method of a service that has the {@code (idempotency.v1.procedure)} option. It is
     * a problem if no method of any service that is added in this way has the option.
     */
    @SuppressWarnings("unchecked") // only protobuf methods have the option
    public Builder addAnnotated(ServiceDescriptor service) {
      services.add(service.getName());
      for (MethodDescriptor<?, ?> method : service.getMethods()) {
        if (MethodSchema.optionOf(method).isPresent()) {
          annotated.put(method.getFullMethodName(), (MethodDescriptor<Message, Message>) method);
        }
      }
      return this;
    }

    /**
     * Sets the source of the status of a resource type, for the options of all methods that {@link
     * #addAnnotated} adds, before or after this call. A type without a source has no asynchronous
     * work.
     *
     * @param resourceType the type as in the options, such as {@code order}
     */
    public Builder status(String resourceType, StatusSource source) {
      statuses.put(resourceType, source);
      return this;
    }

    /** Sets the resolver of the status of a resource type, as above. */
    public Builder status(String resourceType, StatusResolver resolver) {
      return status(resourceType, (StatusSource) resolver);
    }

    /**
     * Sets the execution of annotated methods without an execution in their options. For frameworks
     * that know the handler. There is no default: a server does not start if the choice is empty
     * for a method that needs an execution.
     */
    public Builder defaultExecution(Function<MethodDescriptor<?, ?>, Optional<Execution>> choice) {
      this.defaultExecution = choice;
      return this;
    }

    private Procedure describe(MethodDescriptor<Message, Message> method) {
      ProcedureBuilder<Message> builder =
          Procedure.annotated(method).defaultExecution(() -> defaultExecution.apply(method));
      builder
          .resourceType
          .flatMap(type -> Optional.ofNullable(statuses.get(type.name())))
          .ifPresent(source -> builder.status(source));
      return builder.build();
    }

    public Procedures build() {
      List<String> problems = new ArrayList<>();
      Map<String, Procedure> byName = new LinkedHashMap<>();
      for (Procedure procedure : described) {
        if (byName.put(procedure.name(), procedure) != null) {
          problems.add(procedure.name() + ": it has two descriptors: remove one of them");
        }
      }
      if (annotated.isEmpty() && !services.isEmpty()) {
        problems.add(
            "addAnnotated(%s) has no effect: no method has the option (idempotency.v1.procedure)"
                .formatted(String.join(", ", services)));
      }
      Set<String> unused = new LinkedHashSet<>(statuses.keySet());
      annotated.forEach(
          (name, method) -> {
            if (!byName.containsKey(name)) {
              Procedure procedure = describe(method);
              byName.put(name, procedure);
              procedure.resourceType().map(ResourceType::name).ifPresent(unused::remove);
            }
          });
      for (String type : unused) {
        problems.add(
            ("status(\"%s\", …) has no effect: no method of addAnnotated(…) has this resource_type"
                    + " in its option")
                .formatted(type));
      }
      byName.values().forEach(procedure -> problems.addAll(ProcedureCheck.problems(procedure)));
      return new Procedures(byName, problems);
    }
  }
}
