package io.github.grpcidempotency.conformance;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.github.grpcidempotency.conformance.v1.Call;
import io.github.grpcidempotency.conformance.v1.Case;
import io.github.grpcidempotency.conformance.v1.ConformanceGrpc;
import io.github.grpcidempotency.conformance.v1.Recover;
import io.github.grpcidempotency.conformance.v1.RunRequest;
import io.github.grpcidempotency.conformance.v1.Step;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** One run of a case. It ends with the first step that shows a violation. */
final class CaseRun {
  private static final Set<String> OPTIONAL = Set.of("RunTerminal", Target.RECOVER);
  private static final int BURST = 16;
  private static final Duration POLL = Duration.ofMillis(20);

  /** How long a duplicate has to be refused. Afterwards it counts as waiting. */
  private static final Duration REFUSAL = Duration.ofSeconds(1);

  private final Case tested;
  private final Target target;
  private final Map<String, String> values = new LinkedHashMap<>();
  private final Map<String, Target.Sent> sent = new LinkedHashMap<>();
  private final Map<String, Ending> ends = new LinkedHashMap<>();
  private final List<String> transcript = new ArrayList<>();
  private final List<String> violations = new ArrayList<>();

  private CaseRun(Case tested, Target target) {
    this.tested = tested;
    this.target = target;
    String key = UUID.randomUUID().toString();
    // A UUID without a letter has no upper case.
    values.put("{key}", "a" + key.substring(1));
    values.put("{KEY}", ("a" + key.substring(1)).toUpperCase(Locale.ROOT));
    values.put("{key2}", UUID.randomUUID().toString());
    values.put("{long}", "a".repeat(513));
    values.put("{user}", "user-" + UUID.randomUUID());
    values.put("{user2}", "user-" + UUID.randomUUID());
    values.put("{name}", tested.getName() + "-" + UUID.randomUUID());
  }

  /** The server does not offer the method of the case. */
  private static final class NotOffered extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  static Result of(Case tested, Target target) {
    CaseRun run = new CaseRun(tested, target);
    Result.Verdict verdict;
    try {
      run.all();
      verdict = run.violations.isEmpty() ? Result.Verdict.PASSED : Result.Verdict.FAILED;
    } catch (NotOffered missing) {
      verdict = Result.Verdict.NOT_OFFERED;
    } catch (StatusRuntimeException | TimeoutException failure) {
      run.violations.add(String.valueOf(failure.getMessage()));
      verdict = Result.Verdict.FAILED;
    } finally {
      run.sent.values().forEach(Target.Sent::cancel);
    }
    return new Result(tested, verdict, List.copyOf(run.violations), List.copyOf(run.transcript));
  }

  private void all() throws TimeoutException {
    for (Step step : tested.getStepList()) {
      run(step);
      if (!violations.isEmpty()) {
        return;
      }
    }
  }

  private void run(Step step) throws TimeoutException {
    switch (step.getKindCase()) {
      case CALL -> check(step, answered(step.getCall()));
      case START -> {
        send(step.getAs(), step.getStart());
        await("a handler begins", () -> target.count(value("{name}")).getBegun() > 0);
      }
      case DUPLICATE -> {
        Target.Sent call = send(step.getAs(), step.getDuplicate());
        if (!hasEnded(call)) {
          transcript.add("  waits");
        }
      }
      case BURST -> {
        for (int i = 0; i < BURST; i++) {
          send("burst " + i, step.getBurst());
        }
        together();
      }
      case CANCEL -> {
        transcript.add("> cancel \"%s\"".formatted(step.getCancel()));
        Target.Sent call = Objects.requireNonNull(sent.get(step.getCancel()), step.getCancel());
        call.cancel();
        Ending unused = finish(step.getCancel());
      }
      case RELEASE -> {
        transcript.add("> release");
        target.release(value("{name}"));
      }
      case RECOVER -> check(step, end(recover(step.getRecover())));
      case FINISH -> check(step, finish(step.getFinish()));
      case TOGETHER -> together();
      case KIND_NOT_SET -> throw new IllegalArgumentException(tested.getName());
    }
    if (step.hasEffects() && violations.isEmpty()) {
      long effects = target.count(value("{name}")).getEffects();
      transcript.add("  effects " + effects);
      if (effects != step.getEffects()) {
        violations.add("effects: %d, not %d".formatted(step.getEffects(), effects));
      }
    }
  }

  private void check(Step step, Ending end) {
    if (!step.getAs().isEmpty()) {
      ends.put(step.getAs(), end);
    }
    if (step.hasExpect()) {
      violations.addAll(new Expectation(step.getExpect(), ends, this::value).violations(end));
    }
  }

  private Ending answered(Call call) throws TimeoutException {
    Ending end = end(send("", call));
    long limit = System.nanoTime() + target.timeout().toNanos();
    while (call.getUntilAnswered() && end.isInProgress() && System.nanoTime() < limit) {
      Uninterruptibles.sleepUninterruptibly(POLL);
      end = end(send("", call));
    }
    return end;
  }

  /** Checks the ends of all calls that were sent and not finished. */
  private void together() throws TimeoutException {
    for (String name : List.copyOf(sent.keySet())) {
      ends.put(name, finish(name));
    }
    List<Ending> all =
        ends.values().stream().filter(end -> !end.code().equals("CANCELLED")).toList();
    List<Ending> answers = all.stream().filter(end -> end.code().equals("OK")).toList();
    long runs = answers.stream().filter(end -> !end.isReplay()).count();
    if (runs != 1) {
      violations.add("answers that are no replay: 1, not " + runs);
    }
    if (answers.stream().map(Ending::message).distinct().count() > 1) {
      violations.add("the messages of all answers: the same");
    }
    if (all.stream().anyMatch(end -> !end.code().equals("OK") && !end.isInProgress())) {
      violations.add("every other call: a replay, or refused as in progress");
    }
  }

  private Ending finish(String name) throws TimeoutException {
    Ending end = end(Objects.requireNonNull(sent.remove(name), name));
    ends.put(name, end);
    return end;
  }

  private Target.Sent send(String name, Call call) {
    String method = call.getMethod().isEmpty() ? "Run" : call.getMethod();
    Metadata headers = ofUser(call.hasUser() ? call.getUser() : "{user}");
    call.getHeaderList().forEach(each -> put(headers, each.getName(), value(each.getValue())));
    RunRequest request = call.getRequest();
    if (request.getName().isEmpty()) {
      request = request.toBuilder().setName(value("{name}")).build();
    }
    transcript.add(
        "> %s%s {%s%s}"
            .formatted(
                method,
                name.isEmpty() ? "" : " \"" + name + "\"",
                Ending.line(request),
                call.getRaw().isEmpty() ? "" : " and " + TextFormat.escapeBytes(call.getRaw())));
    for (Call.Builder one = call.toBuilder(); one.getHeaderCount() > 0; one.removeHeader(0)) {
      transcript.add(
          "  header  %s: %s"
              .formatted(one.getHeader(0).getName(), value(one.getHeader(0).getValue())));
    }
    Target.Sent started =
        target.send(
            method, headers, ByteString.copyFrom(request.toByteArray()).concat(call.getRaw()));
    if (!name.isEmpty()) {
      sent.put(name, started);
    }
    return started;
  }

  private Target.Sent recover(Recover recover) {
    RecoverRequest request =
        RecoverRequest.newBuilder()
            .setMethod(
                recover.getMethod().isEmpty()
                    ? ConformanceGrpc.getRunMethod().getFullMethodName()
                    : recover.getMethod())
            .setKey(value(recover.getKey()))
            .build();
    transcript.add("> Recover {" + Ending.line(request) + "}");
    return target.recover(ofUser(recover.hasUser() ? recover.getUser() : "{user}"), request);
  }

  private Metadata ofUser(String user) {
    Metadata headers = new Metadata();
    if (!user.isEmpty()) {
      put(headers, "conformance-user", value(user));
    }
    return headers;
  }

  private Ending end(Target.Sent call) throws TimeoutException {
    Ending end;
    try {
      end = call.end().get(2 * target.timeout().toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | InterruptedException failure) {
      throw new IllegalStateException(failure);
    }
    transcript.add("<");
    transcript.addAll(end.lines());
    if (end.code().equals("UNIMPLEMENTED") && OPTIONAL.contains(call.method())) {
      throw new NotOffered();
    }
    return end;
  }

  private boolean hasEnded(Target.Sent call) {
    try {
      Object unused = call.end().get(REFUSAL.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException waits) {
      return false;
    } catch (ExecutionException | InterruptedException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private void await(String what, BooleanSupplier condition) throws TimeoutException {
    long limit = System.nanoTime() + target.timeout().toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > limit) {
        throw new TimeoutException("%s within %s".formatted(what, target.timeout()));
      }
      Uninterruptibles.sleepUninterruptibly(POLL);
    }
  }

  private String value(String text) {
    String replaced = text;
    for (Map.Entry<String, String> each : values.entrySet()) {
      replaced = replaced.replace(each.getKey(), each.getValue());
    }
    return replaced;
  }

  private static void put(Metadata headers, String name, String value) {
    headers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
  }
}
