package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spring.JoinedAttributes;
import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.ReflectableMarshaller;
import io.grpc.ServiceDescriptor;
import io.grpc.stub.StreamObserver;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * The procedures of an application: procedures from the options of its bound services, and beans
 * that describe a procedure in Java. Beans take precedence.
 *
 * @param procedures the procedures
 * @param problems problems that concern more than a single descriptor
 */
record FoundProcedures(Procedures procedures, List<String> problems) {
  private static final Logger logger = LoggerFactory.getLogger(FoundProcedures.class);

  /** The Java method of a bean that handles a method of its service. */
  private record Handler(Method method, Class<?> type) {
    /** The types of the second parameter of a handler, in Java and in Kotlin. */
    private static final Set<String> ANSWERS =
        Set.of(StreamObserver.class.getName(), "kotlin.coroutines.Continuation");

    static Optional<Handler> of(Class<?> type, MethodDescriptor<?, ?> called) {
      String name = String.valueOf(called.getBareMethodName()).replace("_", "");
      return Arrays.stream(type.getMethods())
          .filter(method -> method.getName().replace("_", "").equalsIgnoreCase(name))
          .filter(method -> handles(method.getParameterTypes(), called))
          .findFirst()
          .map(method -> new Handler(method, type));
    }

    /** The service may have other methods of the same name. */
    private static boolean handles(Class<?>[] parameters, MethodDescriptor<?, ?> called) {
      return parameters.length == 2
          && ANSWERS.contains(parameters[1].getName())
          && (!(called.getRequestMarshaller() instanceof ReflectableMarshaller<?> requests)
              || parameters[0] == requests.getMessageClass());
    }

    boolean joins() {
      return JoinedAttributes.joins(method, type);
    }

    Optional<String> problem() {
      return JoinedAttributes.problem(method, type);
    }
  }

  /**
   * Finds the procedures.
   *
   * @param ours the names of the library's own services, which are created later
   * @param hostTransactions whether transactional handlers run in Spring's transactions
   */
  static FoundProcedures in(ListableBeanFactory beans, Set<String> ours, boolean hostTransactions) {
    Map<String, Handler> handlers = new HashMap<>();
    Set<String> chosen = new LinkedHashSet<>();
    Procedures.Builder builder =
        Procedures.builder()
            .defaultExecution(
                method -> {
                  Handler handler = handlers.get(method.getFullMethodName());
                  if (handler == null || !handler.joins()) {
                    return Optional.empty();
                  }
                  chosen.add(method.getFullMethodName());
                  return Optional.of(Execution.TRANSACTIONAL);
                });
    List<String> problems = new ArrayList<>();
    StatusSources statuses = new StatusSources(beans);
    Set<String> bound = new LinkedHashSet<>();
    for (String name :
        BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, BindableService.class)) {
      if (!ours.contains(name)) {
        BindableService bean = beans.getBean(name, BindableService.class);
        ServiceDescriptor service = bean.bindService().getServiceDescriptor();
        for (MethodDescriptor<?, ?> method : service.getMethods()) {
          bound.add(method.getFullMethodName());
          if (hostTransactions) {
            Handler.of(AopUtils.getTargetClass(bean), method)
                .ifPresent(handler -> handlers.put(method.getFullMethodName(), handler));
          }
        }
        if (isAnnotated(service)) {
          builder.addAnnotated(service);
        }
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
    for (Procedure procedure : procedures.all()) {
      if (procedure.execution() == Execution.TRANSACTIONAL) {
        Optional.ofNullable(handlers.get(procedure.name()))
            .flatMap(Handler::problem)
            .ifPresent(problem -> problems.add(procedure.name() + ": " + problem));
      }
    }
    chosen.forEach(
        name ->
            logger.info(
                "{}: the execution of this procedure is TRANSACTIONAL, because its handler is"
                    + " @Transactional and its option names no execution",
                name));
    if (procedures.all().isEmpty()) {
      logger.warn(
          "no call is idempotent: no method of a gRPC service has the option"
              + " (idempotency.v1.procedure), and no bean describes a procedure");
    }
    return new FoundProcedures(procedures, problems);
  }

  private static boolean isAnnotated(ServiceDescriptor service) {
    return !Procedures.builder().addAnnotated(service).build().all().isEmpty();
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
        .map(
            method ->
                method
                    + ": a bean describes this method, but no bound service has this method:"
                    + " declare the service as a bean, or remove the bean that describes the"
                    + " method")
        .toList();
  }
}
