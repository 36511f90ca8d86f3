package io.github.grpcidempotency.client.intents;

import io.github.grpcidempotency.client.CallFailedException;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.client.testing.v1.Order;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A callback that keeps what it was handed, and may fail first. */
final class Collected implements IntentCallback<Order> {
  record Answer(Intent intent, Reply<Order> reply) {}

  private final List<Answer> answers = new CopyOnWriteArrayList<>();
  private final List<CallFailedException> failures = new CopyOnWriteArrayList<>();
  private final AtomicInteger toFail = new AtomicInteger();

  /** Lets the next calls fail, after they have been noted. */
  Collected failing(int times) {
    toFail.set(times);
    return this;
  }

  /** Discards the answers and failures so far. */
  void reset() {
    answers.clear();
    failures.clear();
    toFail.set(0);
  }

  List<Answer> answers() {
    return answers;
  }

  List<CallFailedException> failures() {
    return failures;
  }

  @Override
  public void answered(Intent intent, Reply<Order> reply) {
    answers.add(new Answer(intent, reply));
    failIfToldSo();
  }

  @Override
  public void failed(Intent intent, CallFailedException failure) {
    failures.add(failure);
    failIfToldSo();
  }

  private void failIfToldSo() {
    if (toFail.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      throw new IllegalStateException("told to fail");
    }
  }
}
