package io.github.grpcidempotency.torture;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/** A history as lines in the order of time, from which the cause of a violation can be read. */
final class HistoryFile {
  private HistoryFile() {}

  static void write(Path file, String title, History history, List<Violation> violations) {
    try (PrintWriter writer = new PrintWriter(Files.newBufferedWriter(file))) {
      writer.println(title);
      writer.println("lease " + history.lease());
      writer.println("refused recordings " + history.refusedRecordings());
      writer.println("preempted " + history.preempted());
      writer.println(history.batches());
      writer.println(history.replication());
      violations.forEach(writer::println);
      Stream.of(
              lines(history.calls(), History.Call::start),
              lines(history.effects(), History.CommittedEffect::at),
              lines(history.changes(), History.Change::at),
              lines(history.faults(), History.Fault::start),
              lines(history.lives(), History.Life::start),
              lines(history.findings(), History.Finding::at))
          .flatMap(kind -> kind)
          .sorted(Comparator.comparing(Line::at))
          .forEach(line -> writer.println(line.at() + "\t" + line.what()));
      history.stored().forEach(writer::println);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Its text is made only when it is written, because there are millions of lines. */
  private record Line(long at, Object what) {}

  private static <T> Stream<Line> lines(List<T> all, ToLongFunction<T> at) {
    return all.stream().map(each -> new Line(at.applyAsLong(each), each));
  }
}
