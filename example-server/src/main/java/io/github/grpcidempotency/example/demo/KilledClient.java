package io.github.grpcidempotency.example.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Splitter;
import io.github.grpcidempotency.example.organization.v1.Cluster;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A client that dies between its call and the answer, and is started again. */
final class KilledClient {
  private static final String REGION = "saturn-1";

  private KilledClient() {}

  static void finishAfterARestart(Stage stage, Story story) {
    try {
      Path intents = stage.database().directory().resolve("intents");
      killWithoutAnAnswer(stage, story, intents);
      startAgain(stage, story, intents);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(stopping);
    }
  }

  private static void killWithoutAnAnswer(Stage stage, Story story, Path intents)
      throws IOException, InterruptedException {
    UUID user = stage.ada().user();
    Process tool = start(stage, intents, stage.ada().newProject("cassini"), "orbiter", REGION);
    try (BufferedReader says = tool.inputReader(UTF_8)) {
      UUID key = UUID.fromString(awaitLine(says, ClusterTool.INTENT));
      story.sent(
          "a process writes its intent into a file, and calls CreateCluster \"orbiter\", idempotency-key: "
              + key);
      stage.network().loseAnswers();
      tool.outputWriter(UTF_8).append('\n').flush();
      Waiting.until(recorded -> recorded == 1, () -> stage.rows().recorded(user, key));
      kill(tool);
      stage.network().cut();
      story.expect(
          "it was killed before the answer had come",
          says.lines().noneMatch(line -> line.startsWith(ClusterTool.CLUSTER)));
      story.counted(1, stage.rows().recorded(user, key), "recorded answer for its key");
    } finally {
      tool.destroyForcibly();
    }
  }

  /**
   * Kills the process through its handle: {@code Process} itself would close the streams with its
   * output.
   */
  private static void kill(Process tool) throws InterruptedException {
    tool.toHandle().destroyForcibly();
    tool.waitFor();
  }

  private static void startAgain(Stage stage, Story story, Path intents)
      throws IOException, InterruptedException {
    story.sent("the process is started again, and gets only the path of the file");
    Process tool = start(stage, intents);
    try (BufferedReader says = tool.inputReader(UTF_8)) {
      List<String> answer = Splitter.on(' ').splitToList(awaitLine(says, ClusterTool.CLUSTER));
      Cluster cluster = Cluster.newBuilder().setId(answer.get(0)).setMachine(answer.get(1)).build();
      story.cameBack("cluster " + cluster.getId() + ", idempotency-replayed: " + answer.get(2));
      story.expect("it got the first answer", answer.get(2).equals("true"));
      story.expect("it has ended, with nothing left to do", tool.waitFor() == 0);
      UUID user = stage.ada().user();
      story.counted(1, stage.rows().clusters(user, "orbiter"), "cluster \"orbiter\"");
      stage.machines().expectOne(story, REGION, cluster);
    } finally {
      tool.destroyForcibly();
    }
  }

  /** Starts the tool, which calls the server through the stage's network. */
  private static Process start(Stage stage, Path intents, String... cluster) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")); // it lives for seconds
    command.addAll(List.of("-cp", classPath(), ClusterTool.class.getName()));
    command.add(Integer.toString(stage.network().port()));
    command.add(stage.ada().user().toString());
    command.add(intents.toString());
    command.addAll(List.of(cluster));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  /** Returns the class path of this program; a build tool that runs it has a different one. */
  private static String classPath() {
    return KilledClient.class.getClassLoader() instanceof URLClassLoader loader
        ? Stream.of(loader.getURLs())
            .map(URL::toString)
            .map(url -> Path.of(URI.create(url)).toString())
            .collect(Collectors.joining(File.pathSeparator))
        : System.getProperty("java.class.path");
  }

  /** Returns what follows a word at the beginning of a line. */
  private static String awaitLine(BufferedReader lines, String word) throws IOException {
    List<String> others = new ArrayList<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith(word)) {
        return line.substring(word.length());
      }
      others.add(line);
    }
    throw new IllegalStateException("the client process has ended, and said " + others);
  }
}
