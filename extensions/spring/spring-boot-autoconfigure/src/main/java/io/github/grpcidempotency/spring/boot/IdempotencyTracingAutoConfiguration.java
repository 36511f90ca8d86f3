package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.opentelemetry.OpenTelemetryListener;
import io.opentelemetry.api.OpenTelemetry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Adds events to traces if the library's module for OpenTelemetry is on the class path. */
@AutoConfiguration(
    before = IdempotencyAutoConfiguration.class,
    afterName =
        "org.springframework.boot.opentelemetry.autoconfigure.OpenTelemetrySdkAutoConfiguration")
@ConditionalOnClass({OpenTelemetryListener.class, OpenTelemetry.class})
@ConditionalOnSingleCandidate(OpenTelemetry.class)
@ConditionalOnBooleanProperty(
    prefix = IdempotencyProperties.PREFIX,
    name = "enabled",
    matchIfMissing = true)
public final class IdempotencyTracingAutoConfiguration {
  IdempotencyTracingAutoConfiguration() {}

  @Bean
  @ConditionalOnMissingBean
  OpenTelemetryListener idempotencyOpenTelemetryListener(OpenTelemetry openTelemetry) {
    return OpenTelemetryListener.of(openTelemetry);
  }
}
