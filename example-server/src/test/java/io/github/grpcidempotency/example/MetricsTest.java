package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What Prometheus gets from the example. */
@ExtendWith(SharedExample.class)
class MetricsTest {
  @Test
  void prometheusGetsTheFiguresOfCallsAndOfTheDatabaseInItsFormat(RunningExample example)
      throws IOException, InterruptedException {
    assertThat(ApiKeys.newProject(example.client(), user(UUID.randomUUID()))).isNotEmpty();
    await().until(() -> example.server().samples().contains("idempotency_database_size_bytes{"));

    URI metrics =
        URI.create("http://localhost:%d/metrics".formatted(example.server().metricsPort()));
    HttpResponse<String> answer =
        HttpClient.newHttpClient()
            .send(HttpRequest.newBuilder(metrics).build(), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.headers().firstValue("content-type"))
        .hasValue("text/plain; version=0.0.4; charset=utf-8");
    assertThat(answer.body())
        .contains("idempotency_claims_seconds_count{", "idempotency_handlers_seconds_bucket{");
  }
}
