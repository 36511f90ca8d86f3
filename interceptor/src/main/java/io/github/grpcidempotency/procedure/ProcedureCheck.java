package io.github.grpcidempotency.procedure;

import com.google.protobuf.Descriptors.Descriptor;
import io.github.grpcidempotency.key.internal.FieldPath;
import io.github.grpcidempotency.procedure.internal.MethodSchema;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Finds the problems of a descriptor that can be found without a database. */
final class ProcedureCheck {
  private static final Pattern TRAILER = Pattern.compile("[0-9a-z_.-]+", Pattern.CASE_INSENSITIVE);

  private final Procedure procedure;
  private final List<String> problems = new ArrayList<>();

  private ProcedureCheck(Procedure procedure) {
    this.procedure = procedure;
  }

  static List<String> problems(Procedure procedure) {
    ProcedureCheck check = new ProcedureCheck(procedure);
    check.problems.addAll(procedure.problems());
    switch (procedure.keyPolicy()) {
      case OPTIONAL, REQUIRED -> {
        procedure.method().ifPresent(check::checkMethod);
        check.checkKey();
        check.checkRecord();
      }
      case HANDLER_INTERNAL -> {
        procedure.method().ifPresent(check::checkCallable);
        check.checkNoOtherSettings("its key policy is HANDLER_INTERNAL");
      }
      case PROHIBITED -> {
        procedure.method().ifPresent(check::checkTransactionIsUnary);
        check.checkNoOtherSettings("its key policy is PROHIBITED");
      }
    }
    return check.problems.stream().map(problem -> procedure.name() + ": " + problem).toList();
  }

  private void checkMethod(MethodDescriptor<?, ?> method) {
    checkCallable(method);
    Optional<Descriptor> request = MethodSchema.request(method);
    Optional<Descriptor> response = MethodSchema.response(method);
    if (request.isEmpty() || response.isEmpty()) {
      problems.add("its request or its response is not a protobuf message");
      return;
    }
    procedure
        .keySource()
        .ifPresent(
            source ->
                source
                    .problems(request.get())
                    .forEach(problem -> problems.add("its key: " + problem)));
    problems.addAll(procedure.fingerprinter().problems(request.get()));
    for (String path : procedure.omittedFields()) {
      Optional<FieldPath> field = FieldPath.of(response.get(), path);
      problemIf(
          field.isEmpty(),
          "it omits \"%s\", which is not a field of %s"
              .formatted(path, response.get().getFullName()));
      problemIf(
          field.filter(FieldPath::isRequired).isPresent(),
          "it omits \"%s\", a required field: without it the record could not be read"
              .formatted(path));
    }
  }

  private void problemIf(boolean wrong, String problem) {
    if (wrong) {
      problems.add(problem);
    }
  }

  private void checkCallable(MethodDescriptor<?, ?> method) {
    problemIf(
        method.getType() != MethodType.UNARY,
        ("only unary methods can be idempotent, this one is %s; remove its procedure, or set its"
                + " key policy to PROHIBITED")
            .formatted(method.getType()));
    problemIf(
        method.isSafe(),
        "it has NO_SIDE_EFFECTS, so there is nothing to make idempotent: remove its procedure, or"
            + " set its key policy to PROHIBITED");
  }

  private void checkTransactionIsUnary(MethodDescriptor<?, ?> method) {
    problemIf(
        procedure.execution() == Execution.TRANSACTIONAL && method.getType() != MethodType.UNARY,
        "only unary methods can be transactional, this one is %s: remove its execution"
            .formatted(method.getType()));
  }

  private void checkKey() {
    problemIf(
        procedure.keySource().isPresent() && hasKeyFormat(),
        "it has a key format for the standard header, but its key comes from another source: set"
            + " the format of that source");
  }

  private void checkRecord() {
    checkRetention();
    boolean lacksResource = procedure.resourceType().isEmpty();
    boolean rebuilds = procedure.responseRebuilder().isPresent();
    problemIf(
        procedure.statusSource().isPresent() && lacksResource,
        "it has a status source, but no resource type: set a resource, or remove the status"
            + " source");
    problemIf(
        rebuilds && lacksResource,
        "it rebuilds its response from a resource, but has no resource type: set a resource, or"
            + " remove the rebuilder");
    problemIf(
        rebuilds && procedure.deletes(),
        "it rebuilds its response from the resource that it deletes: remove the rebuilder");
    for (String trailer : procedure.failurePolicy().trailers()) {
      problemIf(
          trailer.startsWith("grpc-"),
          "it records the trailer \"%s\", which is reserved by gRPC".formatted(trailer));
      problemIf(
          !TRAILER.matcher(trailer).matches(),
          "it records the trailer \"%s\", which is not a valid name".formatted(trailer));
    }
    checkExecution();
  }

  private void checkExecution() {
    boolean transactional = procedure.execution() == Execution.TRANSACTIONAL;
    problemIf(
        transactional && procedure.outagePolicy() == OutagePolicy.FAIL_OPEN,
        "it is TRANSACTIONAL, so it cannot run without its database: set its outage policy to"
            + " FAIL_CLOSED");
    problemIf(
        transactional && !procedure.failurePolicy().unknown().isEmpty(),
        "it is TRANSACTIONAL, so a failed call has no effect: remove the unknown codes");
    problemIf(
        !transactional && procedure.claimsAtCommit(),
        "it is claimed at its commit, but its execution is not TRANSACTIONAL: remove"
            + " claimAtCommit(), or change the execution");
  }

  private void checkRetention() {
    try {
      Retention.problem(procedure.retention()).ifPresent(problems::add);
    } catch (RuntimeException failed) {
      problems.add(String.valueOf(failed.getMessage()));
    }
  }

  private void checkNoOtherSettings(String why) {
    Map<String, Boolean> isSet = new LinkedHashMap<>();
    isSet.put("key source", procedure.keySource().isPresent());
    isSet.put("key format", hasKeyFormat());
    isSet.put("resource", procedure.resourceType().isPresent());
    isSet.put("status source", procedure.statusSource().isPresent());
    isSet.put("retention", hasRetention());
    isSet.put("claim at commit", procedure.claimsAtCommit());
    isSet.put("attach setting", !procedure.attachLimit().isZero());
    isSet.put("failure policy", !procedure.failurePolicy().equals(FailurePolicy.releaseAll()));
    isSet.put("response protection", procedure.responseProtection().isPresent());
    isSet.put("list of omitted fields", !procedure.omittedFields().isEmpty());
    isSet.put("replay guard", procedure.replayGuard().isPresent());
    isSet.forEach(
        (setting, set) ->
            problemIf(set, "%s, so its %s has no effect: remove it".formatted(why, setting)));
  }

  private boolean hasKeyFormat() {
    return procedure.keyFormat() != ProcedureBuilder.UUID_FORMAT;
  }

  private boolean hasRetention() {
    try {
      return procedure.retainedFromLastReplay() || !procedure.retention().equals(Retention.DEFAULT);
    } catch (RuntimeException failed) {
      return true;
    }
  }
}
