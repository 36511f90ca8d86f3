package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.ResourceType;
import io.github.grpcidempotency.procedure.RetentionClasses;
import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * The procedures of an application: those that the options of its bound services describe, and the
 * beans that describe one in Java, which go before.
 *
 * @param procedures what was found
 * @param problems what is wrong, other than with one descriptor by itself
 */
record FoundProcedures(Procedures procedures, List<String> problems) {
  private static final Logger logger = LoggerFactory.getLogger(FoundProcedures.class);

  /**
   * Looks for them.
   *
   * @param ours the names of the library's own services, which are made later
   */
  static FoundProcedures in(ListableBeanFactory beans, Set<String> ours) {
    Procedures.Builder builder = Procedures.builder();
    List<String> problems = new ArrayList<>();
    StatusResolvers statuses = new StatusResolvers(beans);
    beans.getBeanProvider(RetentionClasses.class).ifUnique(builder::retentionClasses);
    Set<String> bound = new LinkedHashSet<>();
    for (String name :
        BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, BindableService.class)) {
      if (!ours.contains(name)) {
        ServiceDescriptor service =
            beans.getBean(name, BindableService.class).bindService().getServiceDescriptor();
        service.getMethods().forEach(method -> bound.add(method.getFullMethodName()));
        builder.addAnnotated(service);
      }
    }
    List<Procedure> described = new ArrayList<>();
    beans.getBeanProvider(Procedure.class).orderedStream().forEach(described::add);
    beans
        .getBeanProvider(Procedures.class)
        .orderedStream()
        .forEach(
            some -> {
              problems.addAll(some.problems());
              described.addAll(some.all());
            });
    described.forEach(builder::add);
    resourceTypes(builder.build(), described)
        .forEach(
            type ->
                statuses.find(type).ifPresent(resolver -> builder.status(type.name(), resolver)));
    Procedures procedures = builder.build();
    problems.removeAll(procedures.problems());
    problems.addAll(statuses.problems(procedures));
    problems.addAll(unbound(described, bound));
    if (procedures.all().isEmpty()) {
      logger.warn(
          "no method of a gRPC service has the option (idempotency.v1.procedure), and no bean"
              + " describes one: nothing is idempotent");
    }
    return new FoundProcedures(procedures, problems);
  }

  boolean isEmpty() {
    return procedures.all().isEmpty();
  }

  boolean describe(String fullMethodName) {
    return procedures.find(fullMethodName).isPresent();
  }

  /** Returns the types of the annotated methods. */
  private static Stream<ResourceType> resourceTypes(Procedures all, List<Procedure> described) {
    return all.all().stream()
        .filter(procedure -> !described.contains(procedure))
        .flatMap(procedure -> procedure.resourceType().stream())
        .distinct();
  }

  private static List<String> unbound(List<Procedure> described, Set<String> bound) {
    return described.stream()
        .flatMap(procedure -> procedure.method().stream())
        .map(MethodDescriptor::getFullMethodName)
        .filter(method -> !bound.contains(method))
        .map(method -> method + ": described by a bean, but no bound service has this method")
        .toList();
  }
}
