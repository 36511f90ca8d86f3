package io.github.grpcidempotency.torture;

import com.google.common.io.BaseEncoding;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.torture.History.Answer;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Change;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.History.Finding;
import io.github.grpcidempotency.torture.History.Life;
import io.github.grpcidempotency.torture.History.StoredAnswer;
import io.github.grpcidempotency.torture.Operation.Scope;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A history as lines of tab-separated values in the order of time, for whoever looks for the cause
 * of a violation.
 */
final class HistoryFile {
  private HistoryFile() {}

  static void write(Path file, String title, History history, List<Violation> violations) {
    try (BufferedWriter writer = Files.newBufferedWriter(file)) {
      line(writer, "run", title);
      line(writer, "lease", history.lease().toMillis());
      line(writer, "refused", history.refusedRecordings());
      line(writer, "preempted", history.preempted());
      line(writer, "batches", history.batches().batches(), history.batches().calls());
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
