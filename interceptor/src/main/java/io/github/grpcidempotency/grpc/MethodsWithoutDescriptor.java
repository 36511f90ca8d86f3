package io.github.grpcidempotency.grpc;

import com.google.protobuf.Descriptors;
import com.google.protobuf.Message;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.internal.MethodSchema;
import io.grpc.MethodDescriptor;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Finds methods that have the {@code (idempotency.v1.procedure)} option but no descriptor in the
 * interceptor, so that the option has no effect. Thread-safe.
 */
final class MethodsWithoutDescriptor {
  /** Contains only methods of generated services, so clients cannot make it grow. */
  private final Map<String, Optional<Procedure>> seen = new ConcurrentHashMap<>();

  /** Returns a problem for each such method in a service that has at least one descriptor. */
  static List<String> problems(Procedures procedures) {
    return procedures.all().stream()
        .flatMap(procedure -> procedure.method().stream())
        .flatMap(MethodSchema::ofServiceOf)
        .distinct()
        .filter(schema -> procedures.find(MethodSchema.fullName(schema)).isEmpty())
        .map(MethodsWithoutDescriptor::problem)
        .sorted()
        .toList();
  }

  /** Returns the procedure that is described by the option of a method without a descriptor. */
  Optional<Procedure> find(MethodDescriptor<?, ?> method) {
    Optional<Procedure> known = seen.get(method.getFullMethodName());
    if (known != null) {
      return known;
    }
    Optional<Descriptors.MethodDescriptor> schema = MethodSchema.schema(method);
    if (schema.isEmpty()) {
      return Optional.empty();
    }
    Optional<Procedure> described =
        schema.flatMap(MethodSchema::option).map(option -> describe(method));
    seen.put(method.getFullMethodName(), described);
    return described;
  }

  @SuppressWarnings("unchecked") // only protobuf methods carry the option
  private static Procedure describe(MethodDescriptor<?, ?> method) {
    return Procedure.annotated((MethodDescriptor<Message, Message>) method).build();
  }

  private static String problem(Descriptors.MethodDescriptor schema) {
    String generated = schema.getService().getName() + "Grpc";
    return ("%s: the method has the option (idempotency.v1.procedure), but the interceptor has no"
            + " descriptor of the method, so its calls would not be protected; add"
            + " Procedures.builder().addAnnotated(%s.getServiceDescriptor()) or"
            + " Procedure.annotated(%s.get%sMethod()).build()")
        .formatted(MethodSchema.fullName(schema), generated, generated, schema.getName());
  }
}
