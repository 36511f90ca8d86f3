package io.github.grpcidempotency.postgres.internal.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.postgres.internal.sql.Failures;
import java.net.ConnectException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Which calls share a statement, and what each of them gets. No statement is sent to a database.
 */
@SuppressWarnings("try") // a busy call is only there to be let go
class BatchesTest {
  private static final String LARGE = "x".repeat(Batches.MAX_BYTES);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<List<String>> sent = new CopyOnWriteArrayList<>();
  private final List<String> sentAlone = new CopyOnWriteArrayList<>();
  private Batches batches = batches(BatchesTest::withoutConnection);

  /** Answers a call with its own name; a call whose name begins with "?" is not decided. */
  private final class Echo implements Batches.Statement<String, String> {
    private final Batches.Kind kind;
    private final UnaryOperator<List<String>> behaviour;

    Echo(Batches.Kind kind, UnaryOperator<List<String>> behaviour) {
      this.kind = kind;
      this.behaviour = behaviour;
    }

    @Override
    public Batches.Kind kind() {
      return kind;
    }

    @Override
    public List<Optional<String>> run(Connection connection, List<String> calls) {
      sent.add(List.copyOf(calls));
      return behaviour.apply(calls).stream()
          .map(call -> Optional.of("batch " + call).filter(decided -> !call.startsWith("?")))
          .toList();
    }
  }

  private static Batches batches(Batches.Connections connections) {
    return batches(1, connections);
  }

  /** A busy machine must not make calls overtake a statement. */
  private static Batches batches(int few, Batches.Connections connections) {
    return new Batches(2, few, Duration.ofMinutes(1), connections);
  }

  private final Echo claim = new Echo(Batches.Kind.CLAIM, calls -> calls);
  private final Echo settle = new Echo(Batches.Kind.SETTLE, calls -> calls);

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  @SuppressWarnings("NullAway") // no statement of these tests uses a connection
  private static <T> T withoutConnection(Function<Connection, T> work) {
    return work.apply(null);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private String alone(String call) {
    sentAlone.add(call);
    return "alone " + call;
  }

  private CompletableFuture<String> start(Echo statement, String call) {
    return start(statement, call, () -> false, () -> alone(call));
  }

  private CompletableFuture<String> start(
      Echo statement, String call, BooleanSupplier gone, Supplier<String> alone) {
    CompletableFuture<String> answer = new CompletableFuture<>();
    Thread[] runner = new Thread[1];
    CountDownLatch started = new CountDownLatch(1);
    threads.execute(
        () -> {
          runner[0] = Thread.currentThread();
          started.countDown();
          try {
            answer.complete(batches.run(statement, call, call.length(), gone, alone));
          } catch (Throwable failure) {
            answer.completeExceptionally(failure);
          }
        });
    // Calls join the queue in the order in which they are started here.
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(1))
        .until(
            () ->
                started.getCount() == 0
                    && (answer.isDone()
                        || runner[0].getState() == Thread.State.TIMED_WAITING
                        || runner[0].getState() == Thread.State.WAITING));
    return answer;
  }

  /** A call that is under way until it is let go. */
  private final class Busy implements AutoCloseable {
    private final CountDownLatch end = new CountDownLatch(1);
    private final CompletableFuture<String> answer;

    Busy(Echo statement) {
      answer =
          start(
              statement,
              "busy",
              () -> false,
              () -> {
                awaitQuietly(end);
                return "alone busy";
              });
    }

    @Override
    public void close() {
      end.countDown();
      assertThat(answer).succeedsWithin(Duration.ofMinutes(1)).isEqualTo("alone busy");
    }
  }

  /** Starts calls that share a batch, and returns their answers. */
  private List<CompletableFuture<String>> together(Echo statement, String... calls) {
    List<CompletableFuture<String>> answers = new ArrayList<>();
    try (Busy unused = new Busy(statement)) {
      for (String call : calls) {
        answers.add(start(statement, call));
      }
    }
    return answers;
  }

  private static List<String> join(List<CompletableFuture<String>> answers) {
    return answers.stream().map(CompletableFuture::join).toList();
  }

  @Test
  void aCallThatFindsNoOtherCallIsSentAlone() {
    assertThat(start(claim, "a").join()).isEqualTo("alone a");
    assertThat(start(claim, "b").join()).isEqualTo("alone b");

    assertThat(sent).isEmpty();
    assertThat(batches.counts().batches()).isZero();
  }

  @Test
  void callsThatWaitForAnotherCallShareTheNextStatement() {
    assertThat(join(together(claim, "a", "b", "c")))
        .containsExactly("batch a", "batch b", "batch c");

    assertThat(sent).containsExactly(List.of("a", "b", "c"));
    assertThat(batches.counts().batches()).isEqualTo(1);
    assertThat(batches.counts().calls()).isEqualTo(3);
    assertThat(batches.counts().queued()).isPositive();
  }

  @Test
  void fewCallsDoNotWaitForEachOther() {
    batches = batches(3, BatchesTest::withoutConnection);
    List<CompletableFuture<String>> more = new ArrayList<>();
    try (Busy first = new Busy(claim);
        Busy second = new Busy(claim)) {
      try (Busy third = new Busy(claim)) {
        more.add(start(claim, "a"));
        more.add(start(claim, "b"));
      }
      assertThat(join(more)).containsExactly("batch a", "batch b");
    }
    assertThat(sent).containsExactly(List.of("a", "b"));
  }

  /** A batch of three calls that is under way until it is let go. */
  private final class BusyBatch implements AutoCloseable {
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<CompletableFuture<String>> answers = new ArrayList<>();

    BusyBatch() {
      Echo slow =
          new Echo(
              Batches.Kind.CLAIM,
              calls -> {
                awaitQuietly(end);
                return calls;
              });
      try (Busy first = new Busy(claim);
          Busy second = new Busy(claim);
          Busy third = new Busy(claim)) {
        for (String call : List.of("1", "2", "3")) {
          answers.add(start(slow, call));
        }
      }
      await().until(() -> !sent.isEmpty());
    }

    @Override
    public void close() {
      end.countDown();
      assertThat(join(answers)).containsExactly("batch 1", "batch 2", "batch 3");
    }
  }

  @Test
  void aCallWaitsForABatchOfManyCalls() {
    batches = batches(3, BatchesTest::withoutConnection);
    CompletableFuture<String> behind;
    try (BusyBatch unused = new BusyBatch()) {
      behind = start(claim, "a");
      assertThat(behind).isNotDone();
    }
    assertThat(behind.join()).isEqualTo("alone a");
  }

  @Test
  void aSecondClaimWaitsWhileManySettlementsAreUnderWay() {
    batches = batches(3, BatchesTest::withoutConnection);
    Busy next = new Busy(settle);
    Busy last = new Busy(settle);
    try (Busy first = new Busy(settle);
        Busy unused = new Busy(claim)) {
      CompletableFuture<String> second = start(claim, "a");
      assertThat(second).isNotDone();
      next.close();
      last.close();
      assertThat(second).succeedsWithin(Duration.ofMinutes(1)).isEqualTo("alone a");
    }
  }

  @Test
  void callsThatCannotShareAStatementDoNotWaitForEachOther() {
    batches = batches(3, BatchesTest::withoutConnection);
    Echo other = new Echo(Batches.Kind.CLAIM, calls -> calls);
    CountDownLatch end = new CountDownLatch(1);
    CompletableFuture<String> slow;
    CompletableFuture<String> beside;
    try (BusyBatch unused = new BusyBatch()) {
      slow =
          start(
              claim,
              "slow",
              () -> false,
              () -> {
                awaitQuietly(end);
                return alone("slow");
              });
      beside = start(other, "a");
    }
    assertThat(beside).succeedsWithin(Duration.ofMinutes(1)).isEqualTo("alone a");
    assertThat(slow).isNotDone();
    end.countDown();
    assertThat(slow.join()).isEqualTo("alone slow");
  }

  @Test
  void onlyCallsWithEqualStatementsShareABatch() {
    Echo other = new Echo(Batches.Kind.CLAIM, calls -> calls);
    List<CompletableFuture<String>> answers = new ArrayList<>();
    try (Busy unused = new Busy(claim)) {
      answers.add(start(claim, "a"));
      answers.add(start(other, "b"));
      answers.add(start(claim, "c"));
      answers.add(start(other, "d"));
    }

    assertThat(join(answers)).containsExactly("batch a", "batch b", "batch c", "batch d");
    assertThat(sent).containsExactly(List.of("a", "c"), List.of("b", "d"));
  }

  @Test
  void aSettlementDoesNotWaitForAClaim() {
    try (Busy unused = new Busy(claim)) {
      assertThat(start(settle, "a").join()).isEqualTo("alone a");
    }
  }

  @Test
  void aBatchHasALimitOfCallsAndBytes() {
    String[] calls =
        IntStream.rangeClosed(1, Batches.MAX_CALLS + 2)
            .mapToObj(String::valueOf)
            .toArray(String[]::new);
    assertThat(join(together(claim, calls))).hasSize(calls.length);
    assertThat(sent).extracting(List::size).containsExactly(Batches.MAX_CALLS, 2);

    sent.clear();
    String half = LARGE.substring(0, LARGE.length() / 2);
    assertThat(join(together(claim, half, half, "small", half)))
        .containsExactly("batch " + half, "batch " + half, "batch small", "batch " + half);
    assertThat(sent).hasSize(2);
    assertThat(sent.get(1)).hasSize(2);
  }

  @Test
  void aCallThatIsLargerThanABatchIsSentAtOnce() {
    try (Busy unused = new Busy(settle)) {
      assertThat(start(settle, LARGE + "x").join()).isEqualTo("alone " + LARGE + "x");
    }
  }

  @Test
  void aCallThatTheBatchDoesNotDecideIsSentAlone() {
    assertThat(join(together(claim, "a", "?b", "c")))
        .containsExactly("batch a", "alone ?b", "batch c");
  }

  @Test
  void ifABatchFailsEachCallIsSentAlone() {
    for (RuntimeException failure :
        List.of(
            sqlState("40001"),
            sqlState("40P01"),
            sqlState("23503"),
            sqlState("55P03"),
            sqlState("57014"),
            new IllegalStateException("a defect"))) {
      Echo failing = failing(failure);
      sentAlone.clear();
      assertThat(join(together(failing, "a", "b"))).containsExactly("alone a", "alone b");
      assertThat(sentAlone).containsExactlyInAnyOrder("a", "b");
    }
  }

  @Test
  void ifTheConnectionBreaksEachCallFailsAsIfItsOwnHadBroken() {
    for (CompletableFuture<String> answer : together(failing(sqlState("08006")), "a", "b")) {
      assertThatThrownBy(answer::join)
          .cause()
          .isInstanceOfSatisfying(
              JdbiException.class, failure -> assertThat(Failures.isCutOff(failure)).isTrue());
    }
    assertThat(sentAlone).isEmpty();
  }

  @Test
  void ifNoConnectionCanBeMadeEachCallFailsForThatReason() {
    batches =
        batches(
            new Batches.Connections() {
              @Override
              public <T> T onConnection(Function<Connection, T> work) {
                throw new ConnectionException(
                    new SQLException("refused", "08001", new ConnectException()));
              }
            });
    List<Throwable> failures = new ArrayList<>();
    for (CompletableFuture<String> answer : together(claim, "a", "b")) {
      assertThatThrownBy(answer::join)
          .cause()
          .isInstanceOfSatisfying(
              JdbiException.class,
              failure -> {
                assertThat(Failures.mayBeOutage(failure)).isTrue();
                failures.add(failure);
              });
    }
    assertThat(failures.get(0)).as("each call changes its own").isNotSameAs(failures.get(1));
    assertThat(sentAlone).isEmpty();
  }

  @Test
  void anErrorOfTheThreadThatSendsTheBatchLeavesTheOthersWithALostAnswer() {
    Echo broken =
        new Echo(
            Batches.Kind.CLAIM,
            calls -> {
              throw new OutOfMemoryError("of a test");
            });
    List<CompletableFuture<String>> answers = together(broken, "a", "b");

    assertThatThrownBy(answers.get(0)::join).hasCauseInstanceOf(OutOfMemoryError.class);
    assertThatThrownBy(answers.get(1)::join)
        .cause()
        .isInstanceOfSatisfying(
            JdbiException.class, failure -> assertThat(Failures.isCutOff(failure)).isTrue());
    assertThat(start(claim, "c").join()).isEqualTo("alone c");
  }

  @Test
  void aCallWhoseCallerIsGoneIsDroppedBeforeItIsSent() {
    AtomicBoolean gone = new AtomicBoolean();
    List<CompletableFuture<String>> answers = new ArrayList<>();
    try (Busy unused = new Busy(claim)) {
      for (String call : List.of("a", "b", "c", "d")) {
        BooleanSupplier isGone = List.of("a", "c").contains(call) ? gone::get : () -> false;
        answers.add(start(claim, call, isGone, () -> alone(call)));
      }
      gone.set(true);
    }

    assertThatThrownBy(answers.get(0)::join).isInstanceOf(CancellationException.class);
    assertThatThrownBy(answers.get(2)::join).isInstanceOf(CancellationException.class);
    assertThat(answers.get(1).join()).isEqualTo("batch b");
    assertThat(answers.get(3).join()).isEqualTo("batch d");
    assertThat(sent).containsExactly(List.of("b", "d"));
  }

  @Test
  void callsDoNotWaitLongForAStatementThatIsStuck() {
    batches = new Batches(2, 1, BatchesTest::withoutConnection);
    try (Busy unused = new Busy(claim)) {
      assertThat(start(claim, "a").join()).isEqualTo("alone a");
    }
    assertThat(start(claim, "c").join()).isEqualTo("alone c");
    assertThat(join(together(claim, "d", "e"))).containsExactly("batch d", "batch e");
  }

  @Test
  void anInterruptOfOneCallDoesNotReachTheOthers() {
    List<Boolean> interrupted = new CopyOnWriteArrayList<>();
    Echo watched =
        new Echo(
            Batches.Kind.CLAIM,
            calls -> {
              interrupted.add(Thread.currentThread().isInterrupted());
              return calls;
            });
    CompletableFuture<Boolean> stillInterrupted = new CompletableFuture<>();
    CompletableFuture<Thread> leader = new CompletableFuture<>();
    CompletableFuture<String> second;
    try (Busy unused = new Busy(watched)) {
      threads.execute(
          () -> {
            leader.complete(Thread.currentThread());
            String answer = batches.run(watched, "a", 1, () -> false, () -> alone("a"));
            stillInterrupted.complete(
                answer.equals("batch a") && Thread.currentThread().isInterrupted());
          });
      Thread first = leader.join();
      await().until(() -> first.getState() == Thread.State.TIMED_WAITING);
      second = start(watched, "b");
      first.interrupt();
    }

    assertThat(second.join()).isEqualTo("batch b");
    assertThat(stillInterrupted.join()).isTrue();
    assertThat(interrupted).containsExactly(false);
  }

  /** Every call gets its own answer, and is sent once, although calls often overtake others. */
  @Test
  void underLoadEveryCallGetsItsOwnAnswer() {
    batches = new Batches(2, 3, Duration.ofMillis(1), BatchesTest::withoutConnection);
    List<CompletableFuture<Void>> callers =
        IntStream.range(0, 32)
            .mapToObj(
                caller ->
                    CompletableFuture.runAsync(
                        () -> {
                          for (int call = 0; call < 300; call++) {
                            String name = caller + "." + call;
                            Echo statement = call % 3 == 0 ? settle : claim;
                            assertThat(
                                    batches.run(statement, name, 1, () -> false, () -> alone(name)))
                                .isIn("alone " + name, "batch " + name);
                          }
                        },
                        threads))
            .toList();
    callers.forEach(CompletableFuture::join);

    List<String> all = new ArrayList<>(sentAlone);
    sent.forEach(all::addAll);
    assertThat(all).hasSize(32 * 300).doesNotHaveDuplicates();
  }

  private Echo failing(RuntimeException failure) {
    return new Echo(
        Batches.Kind.CLAIM,
        calls -> {
          throw failure;
        });
  }

  private static JdbiException sqlState(String state) {
    return new UnableToExecuteStatementException(
        new SQLException("a failure of a test", state), null);
  }
}
