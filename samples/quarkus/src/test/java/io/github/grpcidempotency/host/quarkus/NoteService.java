package io.github.grpcidempotency.host.quarkus;

import io.github.grpcidempotency.host.quarkus.notes.v1.Note;
import io.github.grpcidempotency.host.quarkus.notes.v1.NoteServiceGrpc;
import io.grpc.stub.StreamObserver;
import io.quarkus.grpc.GrpcService;
import io.quarkus.narayana.jta.QuarkusTransaction;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/** Handlers of which something is wrong. */
@GrpcService
public class NoteService extends NoteServiceGrpc.NoteServiceImplBase {
  final AtomicInteger runs = new AtomicInteger();

  @Inject EntityManager entities;

  /** On the event loop, although its method is idempotent. */
  @Override
  public void createNote(Note request, StreamObserver<Note> observer) {
    runs.incrementAndGet();
    observer.onNext(request);
    observer.onCompleted();
  }

  /** What is written in the inner transaction does not end with the call's. */
  @Override
  @Transactional
  public void createNoteBeside(Note request, StreamObserver<Note> observer) {
    insertOrder();
    QuarkusTransaction.requiringNew().run(this::insertOrder);
    observer.onNext(request);
    observer.onCompleted();
  }

  private void insertOrder() {
    entities
        .createNativeQuery("INSERT INTO shop.orders VALUES (gen_random_uuid(), ?1, 'note')")
        .setParameter(1, UUID.randomUUID())
        .executeUpdate();
  }
}
