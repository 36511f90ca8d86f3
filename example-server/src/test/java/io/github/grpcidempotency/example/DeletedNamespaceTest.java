package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc.getCreateNamespaceMethod;
import static io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc.getDeleteNamespaceMethod;
import static io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc.getListNamespacesMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Empty;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.example.TestClient.Refused;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceResponse;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.DeleteNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.ListNamespacesRequest;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A namespace is deleted once, and whoever comes later is told what became of it. */
@ExtendWith(SharedExample.class)
class DeletedNamespaceTest {
  private static final Refused NEVER_THERE = new Refused(Status.Code.NOT_FOUND, "");
  private static final Refused GONE =
      new Refused(Status.Code.NOT_FOUND, "IDEMPOTENCY_RESOURCE_GONE");

  private static RunningExample example;

  private final Metadata ada = user(UUID.randomUUID());
  private final UUID creating = UuidCreator.getTimeOrderedEpoch();
  private final UUID deleting = UuidCreator.getTimeOrderedEpoch();
  private String projectId = "";

  @BeforeAll
  static void share(RunningExample shared) {
    example = shared;
  }

  @BeforeEach
  void createProject() {
    projectId =
        example
            .client()
            .call(
                ada,
                getCreateProjectMethod(),
                CreateProjectRequest.newBuilder().setName("apollo").build())
            .response()
            .getProject()
            .getId();
  }

  @Test
  void aRetryOfADeleteIsTheFirstAnswerAndTheCreateIsStillReplayed() {
    CreateNamespaceResponse created = create().response();
    String id = created.getNamespace().getId();

    Reply<Empty> first = delete(id);
    Reply<Empty> retry = delete(id);

    assertThat(first.isReplayed()).isFalse();
    assertThat(first.status()).isEqualTo("completed");
    assertThat(retry.isReplayed()).isTrue();
    assertThat(retry.operation()).isEqualTo(first.operation());
    assertThat(retry.expires()).isEqualTo(first.expires());
    assertThat(retry.status()).isEqualTo("completed");
    assertThat(namespaces()).isEmpty();
    assertThat(create().isReplayed()).isTrue();
    assertThat(create().response()).isEqualTo(created);
  }

  @Test
  void ofTwoRacingDeletesOneDeletesAndTheOtherIsToldThatItIsGone() {
    String id = create().response().getNamespace().getId();

    List<Refused> outcomes =
        Stream.of(UuidCreator.getTimeOrderedEpoch(), UuidCreator.getTimeOrderedEpoch())
            .parallel()
            .map(key -> tryToDelete(keyed(key, ada), id))
            .toList();

    assertThat(outcomes).containsExactlyInAnyOrder(new Refused(Status.Code.OK, ""), GONE);
  }

  @Test
  void whatWasNeverThereOrIsAnothersIsNotFoundWithoutAReason() {
    String id = create().response().getNamespace().getId();
    Metadata grace = keyed(deleting, user(UUID.randomUUID()));

    assertThat(tryToDelete(keyed(deleting, ada), UUID.randomUUID().toString()))
        .isEqualTo(NEVER_THERE);
    assertThat(tryToDelete(grace, id)).isEqualTo(NEVER_THERE);
    delete(id);
    assertThat(tryToDelete(grace, id)).as("a tombstone is its owner's").isEqualTo(NEVER_THERE);
    assertThat(namespaces()).isEmpty();
  }

  @Test
  void withoutAKeyItIsDeletedAllTheSame() {
    String id = create().response().getNamespace().getId();

    assertThat(tryToDelete(ada, id).code()).isEqualTo(Status.Code.OK);
    assertThat(tryToDelete(ada, id)).isEqualTo(NEVER_THERE);
  }

  @Test
  void theRightsGoWithTheNamespace() {
    String id = create().response().getNamespace().getId();
    try (Handle superuser = example.superuser()) {
      await().until(() -> tuples(superuser, id) == 1);

      delete(id);

      assertThat(tuples(superuser, id)).isZero();
    }
  }

  private Reply<CreateNamespaceResponse> create() {
    return example
        .client()
        .call(
            keyed(creating, ada),
            getCreateNamespaceMethod(),
            CreateNamespaceRequest.newBuilder().setProjectId(projectId).setName("crew").build());
  }

  private Reply<Empty> delete(String id) {
    return example.client().call(keyed(deleting, ada), getDeleteNamespaceMethod(), request(id));
  }

  private static Refused tryToDelete(Metadata headers, String id) {
    try {
      example.client().call(headers, getDeleteNamespaceMethod(), request(id));
      return new Refused(Status.Code.OK, "");
    } catch (StatusRuntimeException refused) {
      return new Refused(
          refused.getStatus().getCode(),
          TestClient.detail(refused, ErrorInfo.class).map(ErrorInfo::getReason).orElse(""));
    }
  }

  private List<String> namespaces() {
    return example
        .client()
        .call(
            ada,
            getListNamespacesMethod(),
            ListNamespacesRequest.newBuilder().setProjectId(projectId).build())
        .response()
        .getNamespacesList()
        .stream()
        .map(namespace -> namespace.getId())
        .toList();
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
