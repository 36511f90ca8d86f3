package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc.getCreateNamespaceMethod;
import static io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc.getDeleteNamespaceMethod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.TestClient.Refused;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.DeleteNamespaceRequest;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What goes with a namespace, and who may delete it. */
@ExtendWith(SharedExample.class)
class DeletedNamespaceTest {
  private static final Refused NEVER_THERE = new Refused(Status.Code.NOT_FOUND, "");

  private final RunningExample example;
  private final Metadata ada = user(UUID.randomUUID());

  DeletedNamespaceTest(RunningExample example) {
    this.example = example;
  }

  @Test
  void onlyItsOwnerCanDeleteANamespace() {
    Metadata grace = keyed(UuidCreator.getTimeOrderedEpoch(), user(UUID.randomUUID()));
    String id = create();
    assertThat(refusedDelete(grace, id)).isEqualTo(NEVER_THERE);
    delete(id);
    assertThat(refusedDelete(keyed(UuidCreator.getTimeOrderedEpoch(), ada), id))
        .isEqualTo(NEVER_THERE);
  }

  @Test
  void theRightsGoWithTheNamespace() {
    String id = create();
    try (Handle superuser = example.superuser()) {
      await().until(() -> tuples(superuser, id) == 1);
      delete(id);
      assertThat(tuples(superuser, id)).isZero();
    }
  }

  private String create() {
    String project = ApiKeys.newProject(example.client(), ada);
    return example
        .client()
        .call(
            ada,
            getCreateNamespaceMethod(),
            CreateNamespaceRequest.newBuilder().setProjectId(project).setName("crew").build())
        .response()
        .getNamespace()
        .getId();
  }

  private void delete(String id) {
    Metadata keyed = keyed(UuidCreator.getTimeOrderedEpoch(), ada);
    assertThat(example.client().call(keyed, getDeleteNamespaceMethod(), request(id)).status())
        .isEqualTo("completed");
  }

  private Refused refusedDelete(Metadata caller, String id) {
    return example.client().refused(caller, getDeleteNamespaceMethod(), request(id));
  }

  private static int tuples(Handle superuser, String id) {
    return superuser
        .createQuery("SELECT count(*) FROM authz.tuples WHERE object = 'namespace:' || :id")
        .bind("id", id)
        .mapTo(Integer.class)
        .one();
  }

  private static DeleteNamespaceRequest request(String id) {
    return DeleteNamespaceRequest.newBuilder().setId(id).build();
  }
}
