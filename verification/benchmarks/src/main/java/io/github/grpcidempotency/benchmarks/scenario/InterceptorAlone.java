package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The cost of the interceptor itself for a call, measured by JMH in a separate JVM. */
public final class InterceptorAlone {
  private static final String ALLOCATION = "gc.alloc.rate.norm";

  private InterceptorAlone() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
    report.progress("JMH, about %d s", 2 * 2 * 2 * pace.rounds());
    try {
      Collection<RunResult> results =
          new Runner(
                  new OptionsBuilder()
                      .include(InProcessCall.class.getName())
                      .addProfiler(GCProfiler.class)
                      .forks(2)
                      .warmupIterations(pace.rounds())
                      .measurementIterations(pace.rounds())
                      .warmupTime(TimeValue.seconds(1))
                      .measurementTime(TimeValue.seconds(1))
                      .timeUnit(TimeUnit.MICROSECONDS)
                      .verbosity(VerboseMode.SILENT)
                      .build())
              .run();
      double time = of(results, "intercepted").getPrimaryResult().getScore();
      double bareTime = of(results, "bare").getPrimaryResult().getScore();
      add(report, "time per call (µs)", bareTime, time);
      add(
          report,
          "allocation per call (B)",
          allocation(of(results, "bare")),
          allocation(of(results, "intercepted")));
    } catch (RunnerException failure) {
      throw new IllegalStateException("JMH failed", failure);
    }
  }

  private static void add(Report.Section report, String metric, double bare, double intercepted) {
    report.add("bare call", 1, metric, bare);
    report.add("intercepted call", 1, metric, intercepted);
    report.add("interceptor", 1, metric, intercepted - bare);
  }

  private static RunResult of(Collection<RunResult> results, String benchmark) {
    return results.stream()
        .filter(result -> result.getParams().getBenchmark().endsWith("." + benchmark))
        .findFirst()
        .orElseThrow();
  }

  private static double allocation(RunResult result) {
    return Optional.ofNullable(result.getSecondaryResults().get(ALLOCATION))
        .orElseThrow()
        .getScore();
  }
}
