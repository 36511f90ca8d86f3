package io.github.grpcidempotency.example.run;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.micrometer.IdempotencyMetrics;
import io.grpc.ServerInterceptor;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.grpc.MetricCollectingServerInterceptor;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/**
 * Serves the metrics of the library and of gRPC's handlers to Prometheus, at {@code /metrics}, on
 * this machine only.
 */
final class Metrics implements AutoCloseable {
  private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final IdempotencyListener listener;
  private final ServerInterceptor handlers = new MetricCollectingServerInterceptor(registry);
  private final HttpServer server;

  private Metrics(HttpServer server) {
    this.server = server;
    registry.config().meterFilter(new Histograms());
    this.listener = IdempotencyMetrics.builder(registry).build();
  }

  /**
   * Adds histograms to the library's timers, so that percentiles over several servers can be
   * computed.
   */
  private static final class Histograms implements MeterFilter {
    @Override
    public DistributionStatisticConfig configure(
        Meter.Id id, DistributionStatisticConfig configured) {
      return id.getName().startsWith("idempotency.")
          ? DistributionStatisticConfig.builder()
              .percentilesHistogram(true)
              .build()
              .merge(configured)
          : configured;
    }
  }

  /**
   * Starts serving.
   *
   * @param port 0 for any free port
   */
  static Metrics serve(int port) {
    try {
      InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
      Metrics metrics = new Metrics(HttpServer.create(address, 0));
      metrics.server.createContext("/metrics", metrics::answer);
      metrics.server.start();
      return metrics;
    } catch (IOException taken) {
      throw new UncheckedIOException(
          "could not serve metrics on port %d (%s)".formatted(port, taken.getMessage()), taken);
    }
  }

  MeterRegistry registry() {
    return registry;
  }

  IdempotencyListener listener() {
    return listener;
  }

  /** Returns the interceptor that counts and times the handlers behind it. */
  ServerInterceptor handlers() {
    return handlers;
  }

  int port() {
    return server.getAddress().getPort();
  }

  String samples() {
    return registry.scrape();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] samples = samples().getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("content-type", TEXT);
      exchange.sendResponseHeaders(200, samples.length);
      exchange.getResponseBody().write(samples);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    registry.close();
  }
}
