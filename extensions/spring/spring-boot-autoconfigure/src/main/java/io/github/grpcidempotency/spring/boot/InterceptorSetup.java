package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.beans.factory.ObjectProvider;

/** Builds the interceptor, or reports all problems that prevent this. */
final class InterceptorSetup {
  private final IdempotencyProperties properties;
  private final FoundProcedures found;
  private final ObjectProvider<CallerResolver> callers;
  private final ObjectProvider<IdempotencyStore> stores;
  private final ObjectProvider<Shards> shards;
  private final ObjectProvider<IdempotencyListener> listeners;
  private final Set<String> problems;

  InterceptorSetup(
      IdempotencyProperties properties,
      FoundProcedures found,
      ObjectProvider<CallerResolver> callers,
      ObjectProvider<IdempotencyStore> stores,
      ObjectProvider<Shards> shards,
      ObjectProvider<IdempotencyListener> listeners) {
    this.properties = properties;
    this.found = found;
    this.callers = callers;
    this.stores = stores;
    this.shards = shards;
    this.listeners = listeners;
    this.problems = new LinkedHashSet<>(found.problems());
  }

  /**
   * Builds the interceptor.
   *
   * @throws SetupException listing all problems
   * @throws StoreException if the store cannot be reached, and there is no other problem
   */
  IdempotencyInterceptor build() {
    IdempotencyInterceptor.Builder builder =
        IdempotencyInterceptor.builder(found.procedures(), caller())
            .callLimit(properties.callLimit());
    properties.keyHash().ifPresent(builder::keyHashSecret);
    listeners.orderedStream().forEach(builder::listener);
    addStore(builder);
    if (!problems.isEmpty()) {
      throw BootTerms.in(withThoseOf(builder));
    }
    try {
      return builder.build();
    } catch (SetupException wrong) {
      throw BootTerms.in(wrong);
    }
  }

  private CallerResolver caller() {
    if (found.isEmpty()) {
      return Optional::empty;
    }
    CallerResolver resolver = callers.getIfUnique();
    if (resolver == null) {
      problems.add(
          callers.stream().findAny().isPresent()
              ? "there are several CallerResolver beans, and none is marked with @Primary"
              : "the caller of a call is unknown: there is neither Spring Security nor a"
                  + " CallerResolver bean; add spring-boot-starter-security with an"
                  + " AuthenticationProcessInterceptor bean, or declare a CallerResolver bean, as"
                  + " is always necessary with Spring Boot 3.5");
      return Optional::empty;
    }
    return resolver;
  }

  /** Sets the shards, if there are any; otherwise the store. */
  private void addStore(IdempotencyInterceptor.Builder builder) {
    if (found.isEmpty()) {
      builder.withoutStore();
      return;
    }
    try {
      Shards several = shards.getIfAvailable();
      IdempotencyStore store = several == null ? stores.getIfUnique() : null;
      if (several != null) {
        builder.shards(several);
      } else if (store != null) {
        builder.store(store);
      } else {
        builder.withoutStore();
        problems.add(
            stores.stream().findAny().isPresent()
                ? "there are several IdempotencyStore beans, and none is marked with @Primary"
                : "there is nowhere to record calls: there is neither a DataSource nor an"
                    + " IdempotencyStore bean; declare a DataSource, for example by"
                    + " spring.datasource.url");
      }
    } catch (RuntimeException failed) {
      builder.withoutStore();
      problems.addAll(problemsOf(failed));
    }
  }

  /** Adds the problems of other beans, so that one start reports all problems. */
  private SetupException withThoseOf(IdempotencyInterceptor.Builder builder) {
    try {
      builder.build().close();
    } catch (SetupException wrong) {
      problems.addAll(wrong.problems());
    } catch (StoreException unreachable) {
      problems.add("the store was not checked, because it cannot be reached: " + unreachable);
    }
    return new SetupException(List.copyOf(problems));
  }

  /** Returns the problems in the cause of a bean's creation failure. */
  private static List<String> problemsOf(RuntimeException failed) {
    for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
      if (cause instanceof SetupException wrong) {
        return new ArrayList<>(wrong.problems());
      }
    }
    throw failed;
  }
}
