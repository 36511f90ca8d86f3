package io.github.grpcidempotency.torture;

import com.google.common.base.Splitter;
import com.google.common.io.BaseEncoding;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.torture.History.Answer;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Change;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.History.Finding;
import io.github.grpcidempotency.torture.History.Life;
import io.github.grpcidempotency.torture.History.Purpose;
import io.github.grpcidempotency.torture.History.Replication;
import io.github.grpcidempotency.torture.History.Session;
import io.github.grpcidempotency.torture.History.StoredAnswer;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import io.grpc.Status.Code;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A history as lines of tab-separated values in the order of time. It can be searched, read and
 * checked again.
 */
final class HistoryFile {
  private HistoryFile() {}

  static void write(Path file, String title, History history, List<Violation> violations) {
    try (BufferedWriter writer = Files.newBufferedWriter(file)) {
      line(writer, "run", title);
      line(writer, "lease", history.lease().toMillis());
      line(writer, "refused", history.refusedRecordings());
      line(writer, "preempted", history.preempted());
      line(writer, "mayLose", history.replication().mayLose());
      for (Map.Entry<UUID, Long> timeline : history.replication().timelines().entrySet()) {
        line(writer, "timeline", timeline.getKey(), timeline.getValue());
      }
      for (Violation violation : violations) {
        line(writer, "violation", violation);
      }
      List<Line> lines =
          Stream.of(
                  history.calls().stream().map(call -> new Line(call.start(), () -> text(call))),
                  history.effects().stream()
                      .map(effect -> new Line(effect.at(), () -> text(effect))),
                  history.changes().stream()
                      .map(change -> new Line(change.at(), () -> text(change))),
                  history.faults().stream()
                      .map(fault -> new Line(fault.start(), () -> text(fault))),
                  history.lives().stream().map(life -> new Line(life.start(), () -> text(life))))
              .flatMap(kind -> kind)
              .sorted()
              .toList();
      for (Line line : lines) {
        line(writer, line.text().get());
      }
      for (Finding finding : history.findings()) {
        line(writer, "finding", finding.rule(), finding.server(), finding.what(), finding.at());
      }
      for (StoredAnswer stored : history.stored()) {
        line(writer, "stored", scope(stored.scope()), hex(stored.bytes()));
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Reads a history that was written. */
  static History read(Path file) {
    Map<String, List<Fields>> lines = new HashMap<>();
    try (Stream<String> read = Files.lines(file)) {
      read.map(Fields::of)
          .forEach(line -> lines.computeIfAbsent(line.kind(), kind -> new ArrayList<>()).add(line));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return new History(
        Duration.ofMillis(one(lines, "lease")),
        all(lines, "call", HistoryFile::call),
        all(lines, "effect", HistoryFile::effect),
        all(lines, "change", HistoryFile::change),
        all(lines, "fault", HistoryFile::fault),
        all(lines, "stored", line -> new StoredAnswer(line.nextScope(), line.nextBytes())),
        one(lines, "refused"),
        one(lines, "preempted"),
        all(lines, "life", HistoryFile::life),
        replication(lines),
        all(
            lines,
            "finding",
            line ->
                new Finding(Rule.valueOf(line.next()), line.next(), line.next(), line.nextLong())));
  }

  /** One that was written before there was replication has no such lines. */
  private static Replication replication(Map<String, List<Fields>> lines) {
    Map<UUID, Long> timelines = new HashMap<>();
    for (Fields line : lines.getOrDefault("timeline", List.of())) {
      timelines.put(UUID.fromString(line.next()), line.nextLong());
    }
    boolean mayLose =
        lines.getOrDefault("mayLose", List.of()).stream()
            .anyMatch(line -> Boolean.parseBoolean(line.next()));
    return new Replication(mayLose, timelines);
  }

  private static long one(Map<String, List<Fields>> lines, String kind) {
    return all(lines, kind, Fields::nextLong).get(0);
  }

  private static <T> List<T> all(
      Map<String, List<Fields>> lines, String kind, Function<Fields, T> parse) {
    return lines.getOrDefault(kind, List.of()).stream().map(parse).toList();
  }

  /** A line's fields, one after the other. */
  private record Fields(String kind, Iterator<String> rest) {
    static Fields of(String line) {
      Iterator<String> fields = Splitter.on('\t').split(line).iterator();
      return new Fields(fields.next(), fields);
    }

    String next() {
      return rest.next();
    }

    long nextLong() {
      return Long.parseLong(next());
    }

    int nextInt() {
      return Integer.parseInt(next());
    }

    Scope nextScope() {
      String key = next();
      return new Scope(UUID.fromString(next()), key);
    }

    ByteString nextBytes() {
      return ByteString.copyFrom(BaseEncoding.base16().decode(next()));
    }
  }

  private static Call call(Fields line) {
    long start = line.nextLong();
    long end = line.nextLong();
    long deadline = line.nextLong();
    Scope scope = line.nextScope();
    Purpose purpose = Purpose.valueOf(line.next());
    Form form = Form.valueOf(line.next());
    EffectRequest request =
        EffectRequest.newBuilder().setPayload(line.next()).setDelayMillis(line.nextInt()).build();
    return new Call(
        purpose,
        new Operation(scope, form, request),
        line.nextInt(),
        start,
        end,
        deadline,
        !line.next().isEmpty(),
        Code.valueOf(line.next()),
        line.next(),
        !line.next().isEmpty(),
        Optional.of(line.nextBytes()).filter(bytes -> !bytes.isEmpty()).map(HistoryFile::answer),
        new Session(Manner.valueOf(line.next()), line.next().isEmpty()));
  }

  private static Answer answer(ByteString bytes) {
    try {
      return Answer.of(Effect.parseFrom(bytes));
    } catch (InvalidProtocolBufferException damaged) {
      throw new UncheckedIOException(damaged);
    }
  }

  private static CommittedEffect effect(Fields line) {
    long at = line.nextLong();
    Scope scope = line.nextScope();
    Form form = Form.valueOf(line.next());
    String payload = line.next();
    String server = line.next();
    UUID value = UUID.fromString(line.next());
    boolean guarded = line.next().equals("guarded");
    long began = line.nextLong();
    Way way = Way.valueOf(line.next());
    return new CommittedEffect(scope, server, form, payload, value, guarded, way, began, at);
  }

  private static Change change(Fields line) {
    long at = line.nextLong();
    Scope scope = line.nextScope();
    return new Change(line.next(), scope, at);
  }

  private static Fault fault(Fields line) {
    long start = line.nextLong();
    long end = line.nextLong();
    return new Fault(FaultKind.valueOf(line.next()), line.nextInt(), line.next(), start, end);
  }

  private static Life life(Fields line) {
    long start = line.nextLong();
    long end = line.nextLong();
    return new Life(line.nextInt(), start, end, ServerLife.parse(line.next()), line.next());
  }

  /** One line. Its text is made only when it is written, because there are millions of lines. */
  private record Line(long at, Supplier<String> text) implements Comparable<Line> {
    @Override
    public int compareTo(Line other) {
      return Long.compare(at, other.at);
    }
  }

  private static String text(Call call) {
    return join(
        "call",
        call.start(),
        call.end(),
        call.deadline(),
        scope(call.scope()),
        call.purpose(),
        call.form(),
        call.payload(),
        call.operation().request().getDelayMillis(),
        call.server(),
        call.cancelled() ? "cancelled" : "",
        call.code(),
        call.reason(),
        call.replayed() ? "replayed" : "",
        call.answer().map(Answer::bytes).map(HistoryFile::hex).orElse(""),
        call.session().manner(),
        call.session().hasRight() ? "" : "without right");
  }

  private static String text(CommittedEffect effect) {
    return join(
        "effect",
        effect.at(),
        scope(effect.scope()),
        effect.form(),
        effect.payload(),
        effect.server(),
        effect.value(),
        effect.guarded() ? "guarded" : "unguarded",
        effect.began(),
        effect.way());
  }

  private static String text(Change change) {
    return join("change", change.at(), scope(change.scope()), change.kind());
  }

  private static String text(Fault fault) {
    return join("fault", fault.start(), fault.end(), fault.kind(), fault.server(), fault.detail());
  }

  private static String text(Life life) {
    return join("life", life.start(), life.end(), life.server(), life.life(), life.refused());
  }

  private static String scope(Scope scope) {
    return scope.key() + "\t" + scope.user();
  }

  private static String hex(ByteString bytes) {
    return BaseEncoding.base16().encode(bytes.toByteArray());
  }

  private static String join(Object... values) {
    return Stream.of(values).map(Object::toString).collect(Collectors.joining("\t"));
  }

  private static void line(BufferedWriter writer, Object... values) throws IOException {
    writer.write(join(values));
    writer.newLine();
  }
}
