package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.grpc.Metadata;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What Prometheus gets from the example. */
@ExtendWith(SharedExample.class)
class MetricsTest {
  private static final String CREATE =
      "procedure=\"" + getCreateProjectMethod().getFullMethodName() + "\"";

  private final RunningExample example;

  MetricsTest(RunningExample example) {
    this.example = example;
  }

  @Test
  void callsAndTheirReplaysAreCounted() throws Exception {
    Metadata keyed = keyed(UuidCreator.getTimeOrderedEpoch(), user(UUID.randomUUID()));
    create(keyed);
    double claims = value("idempotency_claims_seconds_count", CREATE, "result=\"won\"");
    double replays = value("idempotency_replays_total", CREATE, "outcome=\"response\"");

    create(keyed);
    create(keyed(UuidCreator.getTimeOrderedEpoch(), user(UUID.randomUUID())));

    assertThat(value("idempotency_claims_seconds_count", CREATE, "result=\"won\""))
        .isGreaterThanOrEqualTo(claims + 1);
    assertThat(value("idempotency_replays_total", CREATE, "outcome=\"response\""))
        .isGreaterThanOrEqualTo(replays + 1);
    assertThat(samples()).contains("idempotency_handlers_seconds_bucket{");
  }

  @Test
  void theDatabasesFiguresAreThere() {
    await()
        .untilAsserted(
            () ->
                assertThat(value("idempotency_database_size_bytes", "schema=\"idempotency\""))
                    .isPositive());
  }

  @Test
  void noKeyAndNoUserIsInThem() throws Exception {
    UUID key = UuidCreator.getTimeOrderedEpoch();
    UUID user = UUID.randomUUID();
    create(keyed(key, user(user)));

    assertThat(samples()).doesNotContain(key.toString()).doesNotContain(user.toString());
  }

  @Test
  void prometheusKnowsTheirFormat() throws Exception {
    assertThat(get().headers().firstValue("content-type"))
        .hasValue("text/plain; version=0.0.4; charset=utf-8");
  }

  private void create(Metadata headers) {
    CreateProjectRequest request = CreateProjectRequest.newBuilder().setName("apollo").build();
    assertThat(example.client().call(headers, getCreateProjectMethod(), request).response())
        .isNotNull();
  }

  /** Returns the value of the sample with this name and these labels. */
  private double value(String name, String... labels) throws IOException, InterruptedException {
    return samples()
        .lines()
        .filter(line -> line.startsWith(name + "{"))
        .filter(line -> Stream.of(labels).allMatch(line::contains))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private String samples() throws IOException, InterruptedException {
    return get().body();
  }

  private HttpResponse<String> get() throws IOException, InterruptedException {
    URI metrics =
        URI.create("http://localhost:%d/metrics".formatted(example.server().metricsPort()));
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(metrics).build(), HttpResponse.BodyHandlers.ofString());
  }
}
