package io.github.grpcidempotency.example.demo;

import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Asks the server's metrics how often handlers were started, whatever became of them. */
record Handlers(int metricsPort) {
  private static final String STARTED = "grpc_server_requests_received_messages_total{";

  int started(MethodDescriptor<?, ?> method) {
    String label = "method=\"" + method.getBareMethodName() + "\"";
    return samples()
        .lines()
        .filter(line -> line.startsWith(STARTED) && line.contains(label))
        .mapToInt(line -> (int) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private String samples() {
    URI metrics = URI.create("http://localhost:%d/metrics".formatted(metricsPort));
    try {
      return HttpClient.newHttpClient()
          .send(HttpRequest.newBuilder(metrics).build(), HttpResponse.BodyHandlers.ofString())
          .body();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException("the metrics cannot be read", e);
    }
  }
}
