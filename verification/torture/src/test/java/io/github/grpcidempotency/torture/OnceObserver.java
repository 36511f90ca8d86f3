package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.v1.Effect;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.atomic.AtomicBoolean;

/** Passes on the first answer of several threads. */
final class OnceObserver implements StreamObserver<Effect> {
  private final StreamObserver<Effect> target;
  private final AtomicBoolean answered = new AtomicBoolean();
  private volatile boolean completes;

  OnceObserver(StreamObserver<Effect> target) {
    this.target = target;
  }

  @Override
  public void onNext(Effect effect) {
    if (answered.compareAndSet(false, true)) {
      completes = true;
      target.onNext(effect);
    }
  }

  @Override
  public void onError(Throwable failure) {
    if (answered.compareAndSet(false, true)) {
      target.onError(failure);
    }
  }

  @Override
  public void onCompleted() {
    if (completes) {
      target.onCompleted();
    }
  }
}
