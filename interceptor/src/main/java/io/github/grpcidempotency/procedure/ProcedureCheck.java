package io.github.grpcidempotency.procedure;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Message;
import io.github.grpcidempotency.key.FieldPath;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What is wrong with a descriptor, as far as it can be known without a database. */
final class ProcedureCheck {
  private final Procedure procedure;
  private final List<String> problems = new ArrayList<>();

  private ProcedureCheck(Procedure procedure) {
    this.procedure = procedure;
  }

  static List<String> problems(Procedure procedure) {
    ProcedureCheck check = new ProcedureCheck(procedure);
    procedure.method().ifPresent(check::checkMethod);
    check.checkSettings();
    return check.problems.stream().map(problem -> procedure.name() + ": " + problem).toList();
  }

  private void checkMethod(MethodDescriptor<?, ?> method) {
    if (procedure.keyPolicy() == KeyPolicy.PROHIBITED) {
      return;
    }
    if (method.getType() != MethodType.UNARY) {
      problems.add("only unary methods can be idempotent, this one is " + method.getType());
    }
    if (method.isSafe()) {
      problems.add("it has NO_SIDE_EFFECTS, so there is nothing to make idempotent");
    }
    Optional<Descriptor> request = type(method.getRequestMarshaller());
    Optional<Descriptor> response = type(method.getResponseMarshaller());
    if (request.isEmpty() || response.isEmpty()) {
      problems.add("its messages are not protobuf messages");
      return;
    }
    procedure.keySource().ifPresent(source -> prefix("its key: ", source.problems(request.get())));
    problems.addAll(procedure.fingerprinter().problems(request.get()));
    for (String path : procedure.omittedFields()) {
      if (FieldPath.of(response.get(), path).isEmpty()) {
        problems.add(
            "it omits \"%s\", which is not a field of %s"
                .formatted(path, response.get().getFullName()));
      }
    }
  }

  private void checkSettings() {
    if (procedure.keyPolicy() == KeyPolicy.DERIVED && procedure.keySource().isEmpty()) {
      problems.add("its key is derived, but from where is not said");
    }
    if (procedure.retention().isNegative() || procedure.retention().isZero()) {
      problems.add("its retention must be positive, it is " + procedure.retention());
    }
    if (procedure.statusResolver().isPresent() && procedure.resourceType().isEmpty()) {
      problems.add("it has a status resolver but no resource to ask it about");
    }
    if (procedure.execution() == Execution.TRANSACTIONAL) {
      if (procedure.outagePolicy() == OutagePolicy.FAIL_OPEN) {
        problems.add("it is transactional, so it cannot run without its database: fail closed");
      }
      if (!procedure.failurePolicy().unknown().isEmpty()) {
        problems.add("it is transactional, so a failure leaves nothing: no outcome is unknown");
      }
    }
  }

  private void prefix(String prefix, List<String> found) {
    found.forEach(problem -> problems.add(prefix + problem));
  }

  private static Optional<Descriptor> type(Marshaller<?> marshaller) {
    return marshaller instanceof PrototypeMarshaller<?> protobuf
            && protobuf.getMessagePrototype() instanceof Message prototype
        ? Optional.of(prototype.getDescriptorForType())
        : Optional.empty();
  }
}
