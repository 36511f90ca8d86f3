package io.github.grpcidempotency.spring.boot;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.NOT_SERVING;
import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.grpc.server.autoconfigure.health.GrpcServerHealthAutoConfiguration;
import org.springframework.boot.grpc.server.health.GrpcServerHealth;
import org.springframework.boot.health.autoconfigure.application.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;

/** The settings on the page about Kubernetes: what the probes depend on, and whether times fit. */
class KubernetesPageTest {
  private static final String CONTAINER = "spec.template.spec.containers[0].";

  private final PropertySource<?> application = read(0);
  private final PropertySource<?> manifest = read(1);

  KubernetesPageTest() throws IOException {}

  private static PropertySource<?> read(int snippet) throws IOException {
    List<String> snippets =
        Snippets.of(RepositoryRoot.resolve("docs/how-to/kubernetes.md"), "yaml");
    Resource yaml = new ByteArrayResource(snippets.get(snippet).getBytes(StandardCharsets.UTF_8));
    return new YamlPropertySourceLoader().load("page", yaml).get(0);
  }

  @Test
  void theProbesPassWhileTheDatabaseIsDown() {
    Map<String, ServingStatus> statuses = new HashMap<>();
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                ApplicationAvailabilityAutoConfiguration.class,
                HealthContributorRegistryAutoConfiguration.class,
                AvailabilityHealthContributorAutoConfiguration.class,
                GrpcServerHealthAutoConfiguration.class))
        .withInitializer(
            context ->
                context
                    .getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource("page", values(application))))
        .withBean(Runners.AnnotatedService.class)
        .withBean("dbHealthContributor", HealthIndicator.class, () -> () -> Health.down().build())
        .run(
            context -> {
              AvailabilityChangeEvent.publish(context, LivenessState.CORRECT);
              AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC);
              context.getBean(GrpcServerHealth.class).update(statuses::put);
            });

    for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
      assertThat(statuses.get(manifest.getProperty(CONTAINER + probe + ".grpc.service")))
          .as(probe)
          .isEqualTo(SERVING);
    }
    assertThat(statuses.get("")).as("the overall health").isEqualTo(NOT_SERVING);
  }

  @Test
  void theServerIsClosedBeforeThePodIsKilled() {
    Duration grace =
        DurationStyle.detectAndParse(
            String.valueOf(application.getProperty("spring.grpc.server.shutdown.grace-period")));

    assertThat(seconds(CONTAINER + "lifecycle.preStop.sleep.seconds").plus(grace).plusSeconds(2))
        .isLessThanOrEqualTo(seconds("spec.template.spec.terminationGracePeriodSeconds"));
  }

  private Duration seconds(String property) {
    return Duration.ofSeconds(Long.parseLong(String.valueOf(manifest.getProperty(property))));
  }

  private static Map<String, Object> values(PropertySource<?> source) {
    Map<String, Object> values = new HashMap<>();
    for (String name : ((MapPropertySource) source).getPropertyNames()) {
      values.put(name, source.getProperty(name));
    }
    return values;
  }
}
