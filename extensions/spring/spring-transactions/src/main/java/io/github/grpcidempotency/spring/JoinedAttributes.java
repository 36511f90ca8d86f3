package io.github.grpcidempotency.spring;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Enforces the attributes of a {@code @Transactional} method that joins the transaction of a claim.
 * Spring itself ignores them, because that transaction has already begun:
 *
 * <ul>
 *   <li>A timeout applies to the whole transaction, counted from the call of the method.
 *   <li>An isolation that is stricter than read committed is refused.
 *   <li>{@code readOnly} is refused on a method of a gRPC service, because the record is written in
 *       the same transaction. Any other read-only method joins, as always in Spring.
 * </ul>
 *
 * <p>The Spring Boot starter declares this advisor. Elsewhere, declare it in the configuration that
 * has {@code @EnableTransactionManagement}, so that it runs inside Spring's own advice:
 *
 * <pre>{@code
 * static @Bean @Role(BeanDefinition.ROLE_INFRASTRUCTURE) JoinedAttributes joinedAttributes() {
 *   return new JoinedAttributes();
 * }
 * }</pre>
 */
public final class JoinedAttributes extends StaticMethodMatcherPointcutAdvisor {
  private static final Logger logger = LoggerFactory.getLogger(JoinedAttributes.class);

  private static final AnnotationTransactionAttributeSource annotations =
      new AnnotationTransactionAttributeSource(false);

  /** The problems that were already logged. Each problem is logged once. */
  private static final Set<String> logged = ConcurrentHashMap.newKeySet();

  /** Creates the advisor. */
  public JoinedAttributes() {
    super((MethodInterceptor) JoinedAttributes::invoke);
  }

  @Override
  public boolean matches(Method method, Class<?> target) {
    return problem(method, target).isPresent() || timeout(method, target).isPresent();
  }

  /**
   * Returns whether a method is {@code @Transactional} and joins an open transaction of the default
   * manager.
   *
   * @param target the class of the object that has the method
   */
  public static boolean joins(Method method, Class<?> target) {
    return joining(method, target)
        .filter(declared -> !StringUtils.hasText(declared.getQualifier()))
        .isPresent();
  }

  /**
   * Returns why a method cannot join the transaction of a claim, with a remedy; empty if it can.
   *
   * @param target the class of the object that has the method
   */
  public static Optional<String> problem(Method method, Class<?> target) {
    return joining(method, target)
        .flatMap(
            declared -> {
              if (declared.getIsolationLevel() > TransactionDefinition.ISOLATION_READ_COMMITTED) {
                return Optional.of(
                    refusal(
                        method,
                        target,
                        "an isolation",
                        "has the isolation of the data source's connections",
                        "set the isolation of the pool instead"));
              }
              return declared.isReadOnly() && isGrpcService(target)
                  ? Optional.of(
                      refusal(method, target, "readOnly", "writes the record", "remove readOnly"))
                  : Optional.empty();
            });
  }

  private static String refusal(
      Method method, Class<?> target, String attribute, String claim, String remedy) {
    return ("%s: its @Transactional has %s, but the method joins the transaction of its call,"
            + " which %s; %s, make the procedure RESERVED, or begin another transaction with"
            + " Propagation.REQUIRES_NEW")
        .formatted(nameOf(method, target), attribute, claim, remedy);
  }

  private static @Nullable Object invoke(MethodInvocation call) throws Throwable {
    Optional<SpringTransaction> claim =
        SpringTransaction.joinedBy(TransactionAspectSupport.currentTransactionStatus());
    if (claim.isPresent()) {
      Object self = call.getThis();
      Class<?> target =
          self == null ? call.getMethod().getDeclaringClass() : AopUtils.getTargetClass(self);
      problem(call.getMethod(), target)
          .ifPresent(
              problem -> {
                if (logged.add(problem)) {
                  logger.error(problem);
                }
                throw new IllegalTransactionStateException(problem);
              });
      timeout(call.getMethod(), target).ifPresent(claim.get()::limit);
    }
    return call.proceed();
  }

  private static Optional<Duration> timeout(Method method, Class<?> target) {
    return joining(method, target)
        .map(TransactionDefinition::getTimeout)
        .filter(seconds -> seconds != TransactionDefinition.TIMEOUT_DEFAULT)
        .map(Duration::ofSeconds);
  }

  /** Returns the attributes of a method that joins the transaction of its caller. */
  private static Optional<TransactionAttribute> joining(Method method, Class<?> target) {
    return Optional.ofNullable(annotations.getTransactionAttribute(method, target))
        .filter(
            declared ->
                switch (declared.getPropagationBehavior()) {
                  case TransactionDefinition.PROPAGATION_REQUIRES_NEW,
                      TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
                      TransactionDefinition.PROPAGATION_NEVER ->
                      false;
                  default -> true;
                });
  }

  private static boolean isGrpcService(Class<?> target) {
    return ClassUtils.getAllInterfacesForClassAsSet(target).stream()
        .anyMatch(type -> type.getName().equals("io.grpc.BindableService"));
  }

  private static String nameOf(Method method, Class<?> target) {
    return ClassUtils.getUserClass(target).getSimpleName() + "." + method.getName();
  }
}
