package io.github.grpcidempotency.torture;

import com.google.common.io.BaseEncoding;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.torture.History.Answer;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Change;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.History.Life;
import io.github.grpcidempotency.torture.Operation.Scope;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Writes a history as lines of tab-separated values, in the order of time, to be read and searched.
 */
final class HistoryFile {
  private HistoryFile() {}

  static void write(Path file, String title, History history, List<Violation> violations) {
    try (BufferedWriter writer = Files.newBufferedWriter(file)) {
      line(writer, "run", title);
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
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** One line, whose text is made when it is written: there are millions of them. */
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
        call.answer().map(Answer::bytes).map(HistoryFile::hex).orElse(""));
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
        effect.began());
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
