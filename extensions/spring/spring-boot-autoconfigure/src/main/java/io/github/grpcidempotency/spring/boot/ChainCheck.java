package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.store.SetupException;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.grpc.internal.ApplicationContextBeanLookupUtils;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.GrpcServerFactory;
import org.springframework.grpc.server.service.DefaultGrpcServiceConfigurer;
import org.springframework.grpc.server.service.GrpcServiceConfigurer;
import org.springframework.grpc.server.service.GrpcServiceDiscoverer;
import org.springframework.grpc.server.service.GrpcServiceInfo;
import org.springframework.grpc.server.service.GrpcServiceSpec;

/**
 * Checks, before a server starts, the interceptors of each described method on each server: the
 * library's interceptor must be there once, inside Spring's interceptors that observe calls, map
 * exceptions and authenticate. Other interceptors are not checked.
 */
final class ChainCheck implements SmartInitializingSingleton {
  private static final Logger logger = LoggerFactory.getLogger(ChainCheck.class);

  /** The names of Spring's interceptor classes that must be outside. The classes may be missing. */
  private static final Set<String> OUTSIDE =
      Set.of(
          "io.micrometer.core.instrument.binder.grpc.ObservationGrpcServerInterceptor",
          "org.springframework.grpc.server.exception.GrpcExceptionHandlerInterceptor",
          "org.springframework.grpc.server.security.AuthenticationProcessInterceptor",
          "org.springframework.grpc.server.security.SecurityContextServerInterceptor");

  private static final Set<String> AUTHENTICATING =
      Set.of(
          "org.springframework.grpc.server.security.AuthenticationProcessInterceptor",
          "org.springframework.grpc.server.security.SecurityContextServerInterceptor");

  private final ApplicationContext context;
  private final FoundProcedures found;
  private final ObjectProvider<CallerResolver> callers;
  private final Set<String> problems = new LinkedHashSet<>();

  ChainCheck(
      ApplicationContext context, FoundProcedures found, ObjectProvider<CallerResolver> callers) {
    this.context = context;
    this.found = found;
    this.callers = callers;
  }

  /**
   * Checks the interceptors of every service.
   *
   * @throws SetupException if a service has wrong interceptors; lists all problems
   */
  @Override
  public void afterSingletonsInstantiated() {
    if (found.isEmpty()) {
      return;
    }
    GrpcServiceConfigurer configurer = context.getBean(GrpcServiceConfigurer.class);
    if (AopUtils.getTargetClass(configurer) != DefaultGrpcServiceConfigurer.class) {
      logger.warn(
          "the order of the interceptors is not checked, because {} replaces Spring's own"
              + " GrpcServiceConfigurer",
          configurer.getClass().getName());
      return;
    }
    List<GrpcServerFactory> servers =
        context.getBeanProvider(GrpcServerFactory.class).stream().toList();
    for (GrpcServiceSpec service : context.getBean(GrpcServiceDiscoverer.class).findServices()) {
      ServerServiceDefinition definition = service.service().bindService();
      if (definition.getMethods().stream()
          .anyMatch(method -> found.describe(method.getMethodDescriptor().getFullMethodName()))) {
        String name = definition.getServiceDescriptor().getName();
        if (servers.isEmpty()) {
          check(name, chain(service, definition, Optional.empty()));
        }
        servers.forEach(server -> check(name, chain(service, definition, Optional.of(server))));
      }
    }
    if (!problems.isEmpty()) {
      throw new SetupException(List.copyOf(problems));
    }
  }

  /**
   * Returns the interceptors in the order in which {@link DefaultGrpcServiceConfigurer} arranges
   * them.
   */
  private List<ServerInterceptor> chain(
      GrpcServiceSpec service,
      ServerServiceDefinition definition,
      Optional<GrpcServerFactory> server) {
    List<ServerInterceptor> chain =
        new ArrayList<>(
            ApplicationContextBeanLookupUtils.getBeansWithAnnotation(
                context, ServerInterceptor.class, GlobalServerInterceptor.class));
    server.ifPresent(
        factory -> chain.removeIf(interceptor -> !factory.supports(interceptor, definition)));
    GrpcServiceInfo info = service.serviceInfo();
    if (info == null) {
      return chain;
    }
    for (Class<? extends ServerInterceptor> type : info.interceptors()) {
      chain.add(context.getBean(type));
    }
    for (String name : info.interceptorNames()) {
      chain.add(context.getBean(name, ServerInterceptor.class));
    }
    if (info.blendWithGlobalInterceptors()) {
      ApplicationContextBeanLookupUtils.sortBeansIncludingOrderAnnotation(
          context, ServerInterceptor.class, chain);
    }
    return chain;
  }

  private void check(String service, List<ServerInterceptor> chain) {
    List<Integer> ours = new ArrayList<>();
    for (int place = 0; place < chain.size(); place++) {
      if (chain.get(place) instanceof RegisteredInterceptor
          || chain.get(place) instanceof IdempotencyInterceptor) {
        ours.add(place);
      }
    }
    if (ours.isEmpty()) {
      problems.add(
          service
              + ": a ServerInterceptorFilter removes the idempotency interceptor from this"
              + " service; change the filter so that it keeps the interceptor");
      return;
    }
    if (ours.size() > 1) {
      problems.add(
          service
              + ": the idempotency interceptor is registered twice; the starter registers it, so"
              + " remove @GlobalServerInterceptor from the IdempotencyInterceptor bean, and the"
              + " interceptor from @GrpcService");
    }
    for (ServerInterceptor inside : chain.subList(ours.get(0) + 1, chain.size())) {
      if (isOne(OUTSIDE, inside)) {
        problems.add(
            ("%s: the interceptor %s runs inside the idempotency interceptor, but must run outside:"
                    + " give it a lower @Order than grpc.idempotency.interceptor-order, or raise"
                    + " that property")
                .formatted(service, AopUtils.getTargetClass(inside).getSimpleName()));
      }
    }
    if (callers.getIfUnique() instanceof SecurityCallers
        && chain.stream().noneMatch(interceptor -> isOne(AUTHENTICATING, interceptor))) {
      problems.add(
          service
              + ": no Spring Security interceptor authenticates the service's calls, so the"
              + " caller of a call is unknown; declare an AuthenticationProcessInterceptor bean"
              + " with @GlobalServerInterceptor, or a CallerResolver bean");
    }
  }

  private static boolean isOne(Set<String> types, ServerInterceptor interceptor) {
    for (Class<?> type = AopUtils.getTargetClass(interceptor);
        type != null;
        type = type.getSuperclass()) {
      if (types.contains(type.getName())) {
        return true;
      }
    }
    return false;
  }
}
