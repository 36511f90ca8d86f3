package io.github.grpcidempotency.hosts.springboot3;

import static io.github.grpcidempotency.resource.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.PROCESSING;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.StatusSource;
import java.util.Optional;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.security.AuthenticationProcessInterceptor;
import org.springframework.grpc.server.security.GrpcSecurity;
import org.springframework.security.config.Customizer;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/** Serves orders. */
@SpringBootApplication
public class OrdersApplication {
  public static void main(String... arguments) {
    SpringApplication.run(OrdersApplication.class, arguments);
  }

  /** Returns the status of an order's asynchronous work. The bean's name is the resource type. */
  @Bean
  StatusSource order() {
    return OutboxQuery.of("SELECT status FROM shop.orders WHERE id = :resource_id")
        .map(PROCESSING, "pending")
        .map(COMPLETED, "shipped")
        .build();
  }

  /** Returns the owner of the key. */
  @Bean
  CallerResolver caller() {
    return () ->
        Optional.ofNullable(SecurityContextHolder.getContext().getAuthentication())
            .map(Authentication::getName)
            .map(Caller::ofSubject);
  }

  @Bean
  @GlobalServerInterceptor
  AuthenticationProcessInterceptor authentication(GrpcSecurity grpc) throws Exception {
    return grpc.authorizeRequests(calls -> calls.allRequests().authenticated())
        .httpBasic(Customizer.withDefaults())
        .build();
  }

  /** Simulates your users. */
  @Bean
  UserDetailsService users() {
    return new InMemoryUserDetailsManager(
        User.withUsername("alice").password("{noop}password of alice").build(),
        User.withUsername("bob").password("{noop}password of bob").build());
  }
}
