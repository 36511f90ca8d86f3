package io.github.grpcidempotency.spring.example;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.security.AuthenticationProcessInterceptor;
import org.springframework.grpc.server.security.GrpcSecurity;
import org.springframework.security.config.Customizer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/** Who may call. A key belongs to the user who is authenticated here. */
@Configuration(proxyBeanMethods = false)
class Security {
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
    return new InMemoryUserDetailsManager(user("alice"), user("bob"));
  }

  private static UserDetails user(String name) {
    return User.withUsername(name).password("{noop}password of " + name).roles("CUSTOMER").build();
  }
}
