package io.github.grpcidempotency.procedure;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import java.util.ArrayList;
import java.util.List;

/** What is wrong with a descriptor, as far as it can be known without a database. */
final class ProcedureCheck {
  private ProcedureCheck() {}

  static List<String> problems(Procedure procedure) {
    List<String> problems = new ArrayList<>();
    MethodDescriptor<?, ?> method = procedure.method();
    if (method.getType() != MethodType.UNARY) {
      problems.add("only unary methods can be idempotent, this one is " + method.getType());
    }
    if (!(method.getRequestMarshaller() instanceof PrototypeMarshaller)
        || !(method.getResponseMarshaller() instanceof PrototypeMarshaller)) {
      problems.add("its messages are not protobuf messages");
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
    return problems.stream().map(problem -> procedure.name() + ": " + problem).toList();
  }
}
