package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.TestClient.with;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One key in every place that a call can name: user, organization and project. */
@ExtendWith(SharedExample.class)
class NamespacesTest {
  private static final CreateProjectRequest REQUEST =
      CreateProjectRequest.newBuilder().setName("apollo").build();

  private static RunningExample example;

  @BeforeAll
  static void share(RunningExample shared) {
    example = shared;
  }

  @Test
  void aKeyNeverCrossesUserOrganizationOrProject() {
    UUID key = UuidCreator.getTimeOrderedEpoch();
    List<Optional<String>> names = List.of(Optional.empty(), Optional.of("a"), Optional.of("b"));
    Map<Metadata, CreateProjectResponse> created = new LinkedHashMap<>();
    for (Metadata user : List.of(user(UUID.randomUUID()), user(UUID.randomUUID()))) {
      for (Optional<String> organization : names) {
        for (Optional<String> project : names) {
          Metadata place =
              keyed(key, in("project", project, in("organization", organization, user)));
          Reply<CreateProjectResponse> first = create(place);
          assertThat(first.isReplayed()).isFalse();
          created.put(place, first.response());
        }
      }
    }

    assertThat(created).hasSize(18);
    assertThat(created.values().stream().distinct()).hasSize(18);
    created.forEach(
        (place, response) -> {
          Reply<CreateProjectResponse> again = create(place);
          assertThat(again.isReplayed()).isTrue();
          assertThat(again.response()).isEqualTo(response);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"-", "a/b", "a:b", "", ".", "-a"})
  void noNameMayLookLikeASeparatorOfNamespaces(String name) {
    for (String header : List.of("organization", "project")) {
      Metadata place =
          keyed(UuidCreator.getTimeOrderedEpoch(), with(header, name, user(UUID.randomUUID())));
      assertThat(example.client().refused(place, getCreateProjectMethod(), REQUEST).code())
          .isEqualTo(Status.Code.INVALID_ARGUMENT);
    }
  }

  private static Metadata in(String header, Optional<String> name, Metadata headers) {
    return name.map(present -> with(header, present, headers)).orElse(headers);
  }

  private static Reply<CreateProjectResponse> create(Metadata place) {
    return example.client().call(place, getCreateProjectMethod(), REQUEST);
  }
}
