package io.github.grpcidempotency.spring.boot;

import com.google.rpc.Code;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.resource.StatusSource;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.Status;
import java.time.Duration;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.exception.GrpcExceptionHandler;
import org.springframework.grpc.server.security.AuthenticationProcessInterceptor;
import org.springframework.grpc.server.security.GrpcSecurity;
import org.springframework.security.config.Customizer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** An application as a user of the starter writes it. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableTransactionManagement(proxyTargetClass = true)
@Import({Strict.class, Things.class, Waiting.class})
class ThingApplication {
  static final UUID BOB = UUID.fromString("6a6c3f40-52a5-4f4e-9a83-0f6a3ff4a6a1");

  @Bean
  @GlobalServerInterceptor
  AuthenticationProcessInterceptor authentication(GrpcSecurity security) throws Exception {
    return security
        .httpBasic(Customizer.withDefaults())
        .authorizeRequests(requests -> requests.allRequests().authenticated())
        .build();
  }

  @Bean
  UserDetailsService users() {
    return new InMemoryUserDetailsManager(
        User.withUsername("alice").password("{noop}secret").roles("USER").build(),
        User.withUsername(BOB.toString()).password("{noop}secret").roles("USER").build());
  }

  /** Described in Java, because its schema says nothing. */
  @Bean
  Procedure createOther() {
    return Procedure.of(ThingServiceGrpc.getCreateOtherMethod())
        .resource(ResourceType.of("thing"), thing -> ResourceId.of(thing.getId()))
        .execution(Execution.TRANSACTIONAL)
        .build();
  }

  @Bean
  Procedure deleteThing() {
    return Procedure.of(ThingServiceGrpc.getDeleteThingMethod())
        .execution(Execution.RESERVED)
        .attach(Duration.ofSeconds(20))
        .failures(FailurePolicy.releaseAll().withTerminal(Code.FAILED_PRECONDITION))
        .build();
  }

  @Bean
  @Qualifier("thing")
  StatusSource thingStatus() {
    return OutboxQuery.of(
            "SELECT state FROM app.outbox WHERE thing_id = :resource_id ORDER BY id DESC LIMIT 1")
        .map(IdempotencyStatus.COMPLETED, "done")
        .map(IdempotencyStatus.FAILED, "failed")
        .build();
  }

  @Bean
  GrpcExceptionHandler mapping() {
    return exception ->
        exception instanceof IllegalStateException
            ? Status.FAILED_PRECONDITION.withDescription(exception.getMessage()).asException()
            : null;
  }
}
