package io.github.grpcidempotency.benchmarks.capacity;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Says what a rate of creates needs; with no rate, from 10 to 1,000,000 a second. */
@Command(
    name = "capacity",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Computes what a rate of creates needs, from the results of the benchmarks. Measures"
          + " nothing.",
      "Bytes may be written as 1024, 1KiB, 1kB or 4TB, times as 30s, 15m, 12h or 7d."
    })
public final class CapacityCommand implements Callable<Integer> {
  private static final double LEAST = 0.001;
  private static final double MOST = 1e9;
  private static final String PAGE = "scale.md";

  @Option(
      names = "--creates",
      paramLabel = "RATE",
      description = "Creates a second on average; all rates by default.")
  private Optional<Double> creates = Optional.empty();

  @Option(
      names = "--peak",
      defaultValue = "2",
      description = "How many times that at the peak (${DEFAULT-VALUE}).")
  private double peak;

  @Option(
      names = "--replays",
      defaultValue = "0.01",
      description = "Retries that are answered from a record, for each create (${DEFAULT-VALUE}).")
  private double replays;

  @Option(
      names = "--way",
      defaultValue = "transactional",
      paramLabel = "WAY",
      description =
          "How creates are run (${DEFAULT-VALUE}): bare, reserved, reserved-same-database, joined,"
              + " transactional, first-statement.")
  private String way = "";

  @Option(
      names = "--answer",
      defaultValue = "1KiB",
      paramLabel = "BYTES",
      description = "The size of a recorded answer, as stored (${DEFAULT-VALUE}).")
  private String answer = "";

  @Option(
      names = "--retention",
      defaultValue = "1d",
      paramLabel = "TIME",
      description = "How long a record lives (${DEFAULT-VALUE}).")
  private String retention = "";

  @Option(
      names = "--handler-micros",
      description =
          "The handler's own processor time in the database, in microseconds (as the benchmarks').")
  private Optional<Double> handlerMicros = Optional.empty();

  @Option(
      names = "--handler-log",
      paramLabel = "BYTES",
      description = "What the handler itself writes to the log (as the benchmarks').")
  private Optional<String> handlerLog = Optional.empty();

  @Option(
      names = "--cores",
      defaultValue = "32",
      description = "Cores of a primary (${DEFAULT-VALUE}).")
  private double cores;

  @Option(
      names = "--disk",
      defaultValue = "4TB",
      paramLabel = "BYTES",
      description = "What its disk holds (${DEFAULT-VALUE}).")
  private String disk = "";

  @Option(
      names = "--disk-speed",
      defaultValue = "1GB",
      paramLabel = "BYTES",
      description = "What its disk reads or writes in a second (${DEFAULT-VALUE}).")
  private String diskSpeed = "";

  @Option(
      names = "--network",
      defaultValue = "1250MB",
      paramLabel = "BYTES",
      description = "What its network carries in a second (${DEFAULT-VALUE}).")
  private String network = "";

  @Option(
      names = "--connections",
      defaultValue = "500",
      description = "How many connections it takes (${DEFAULT-VALUE}).")
  private double connections;

  @Option(
      names = "--flush-micros",
      description = "How long a flush of the log takes, in microseconds (as the benchmarks').")
  private Optional<Double> flushMicros = Optional.empty();

  @Option(
      names = "--network-micros",
      defaultValue = "500",
      description =
          "A round trip between service, database and replicas, in microseconds"
              + " (${DEFAULT-VALUE}).")
  private double networkMicros;

  @Option(
      names = "--headroom",
      defaultValue = "0.7",
      description = "The share of all that which may be used (${DEFAULT-VALUE}).")
  private double headroom;

  @Option(
      names = "--replicas",
      defaultValue = "2",
      description = "How many replicas a primary has (${DEFAULT-VALUE}).")
  private int replicas;

  @Option(
      names = "--asynchronous",
      description = "A commit does not wait for a replica. By default it waits for one.")
  private boolean asynchronous;

  @Option(
      names = "--vacuum-scale-factor",
      defaultValue = "0.2",
      description = "autovacuum_vacuum_scale_factor (${DEFAULT-VALUE}).")
  private double scaleFactor;

  @Option(
      names = "--vacuum-cost-limit",
      defaultValue = "200",
      description = "autovacuum_vacuum_cost_limit (${DEFAULT-VALUE}).")
  private double costLimit;

  @Option(
      names = "--results",
      defaultValue = "benchmarks/results",
      paramLabel = "DIRECTORY",
      description = "Where the results of the benchmarks are (${DEFAULT-VALUE}).")
  private Path results = Path.of("");

  @Option(
      names = "--write",
      paramLabel = "DIRECTORY",
      description = "Writes the tables into the page " + PAGE + " there, and the plots beside it.")
  private Optional<Path> page = Optional.empty();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws IOException {
    PrintStream out =
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    try {
      Measurements measurements = Measurements.read(results);
      Tables tables = tables(measurements);
      if (creates.isPresent()) {
        List<Double> rate = List.of(within("--creates", creates.get(), LEAST, MOST));
        out.printf("%s%n%s", tables.needs(rate), tables.upkeep(rate));
      } else {
        tables.all().forEach((name, table) -> out.printf("%s%n%n%s%n", name, table));
      }
      if (page.isPresent()) {
        write(page.get(), tables.all(), drawings(measurements));
      }
    } catch (IllegalArgumentException wrong) {
      throw new ParameterException(spec.commandLine(), wrong.getMessage(), wrong);
    } catch (NoSuchFileException missing) {
      throw new ParameterException(
          spec.commandLine(), "there is no file " + missing.getMessage(), missing);
    }
    return 0;
  }

  private static void write(
      Path directory, Map<String, String> tables, Map<String, String> drawings) throws IOException {
    Path file = directory.resolve(PAGE);
    Files.writeString(file, ScalePage.with(tables, Files.readString(file)));
    for (Map.Entry<String, String> drawing : drawings.entrySet()) {
      Files.writeString(directory.resolve(drawing.getKey()), drawing.getValue());
    }
  }

  Tables tables(Measurements measurements) {
    Calibration calibration = new Calibration(measurements);
    return new Tables(measurements, load(calibration), machine(calibration));
  }

  Map<String, String> drawings(Measurements measurements) {
    Calibration calibration = new Calibration(measurements);
    return new Drawings(new Model(calibration), load(calibration), machine(calibration)).all();
  }

  Load load(Calibration calibration) {
    Load.Handler measured = calibration.handler();
    return new Load(
        1,
        within("--peak", peak, 1, 1_000),
        within("--replays", replays, 0, 1_000),
        way(),
        (int) within("--answer", Quantity.bytes(answer), 0, 1e9),
        retention(),
        new Load.Handler(
            within("--handler-micros", handlerMicros.orElse(measured.cpuMicros()), 0, 1e9),
            within(
                "--handler-log",
                handlerLog.map(Quantity::bytes).orElse(measured.walBytes()),
                0,
                1e9)));
  }

  Machine machine(Calibration calibration) {
    return new Machine(
        above("--cores", cores),
        above("--disk", Quantity.bytes(disk)),
        above("--disk-speed", Quantity.bytes(diskSpeed)),
        above("--network", Quantity.bytes(network)),
        // A pool of each of two servers needs one to work and one to listen.
        within("--connections", connections, 20, 1e6),
        within("--flush-micros", flushMicros.orElse(calibration.flushMicros()), 0, 1e7),
        within("--network-micros", networkMicros, 0, 1e7),
        within("--headroom", headroom, 0.1, 1),
        (int) within("--replicas", replicas, 0, 100),
        !asynchronous && replicas > 0,
        new Machine.Vacuum(
            within("--vacuum-scale-factor", scaleFactor, 0, 100),
            within("--vacuum-cost-limit", costLimit, 1, 10_000)));
  }

  private Way way() {
    return Arrays.stream(Way.values())
        .filter(each -> id(each).equals(way))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no way is called %s; there are %s"
                        .formatted(
                            way,
                            String.join(
                                ", ",
                                Arrays.stream(Way.values()).map(CapacityCommand::id).toList()))));
  }

  private static String id(Way way) {
    return way.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private Duration retention() {
    Duration time = Quantity.time(retention);
    double unused = within("--retention (in seconds)", (double) time.toSeconds(), 1, 1e9);
    return time;
  }

  private static double above(String option, double value) {
    if (!(value > 0)) {
      throw new IllegalArgumentException(
          "%s must be more than 0, not %s".formatted(option, Quantity.of(value)));
    }
    return value;
  }

  private static double within(String option, double value, double least, double most) {
    if (!(value >= least && value <= most)) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT, "%s must be from %s to %,.0f, not %s", option, least, most, value));
    }
    return value;
  }
}
