package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.TestClient.violations;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getAddInstallMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getImportMembersMethod;
import static io.github.grpcidempotency.example.organization.v1.WebhookServiceGrpc.getIngestMethod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.ImportMembersRequest;
import io.github.grpcidempotency.example.organization.v1.InviteServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.MemberLine;
import io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.WebhookServiceGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Invalid requests are refused field by field, and never cause an error of the database. */
@ExtendWith(SharedExample.class)
class BadInputTest {
  private static RunningExample example;

  private final Metadata ada = user(UUID.randomUUID());

  @BeforeAll
  static void share(RunningExample shared) {
    example = shared;
  }

  /**
   * All methods but deliveries to webhooks, which are refused without a signature, whatever they
   * contain.
   */
  static Stream<MethodDescriptor<?, ?>> methods() {
    return Stream.of(
            ProjectServiceGrpc.getServiceDescriptor(),
            ClusterServiceGrpc.getServiceDescriptor(),
            NamespaceServiceGrpc.getServiceDescriptor(),
            APIKeyServiceGrpc.getServiceDescriptor(),
            InviteServiceGrpc.getServiceDescriptor(),
            WebhookServiceGrpc.getServiceDescriptor())
        .flatMap(service -> service.getMethods().stream())
        .filter(method -> !method.equals(getIngestMethod()));
  }

  @ParameterizedTest
  @MethodSource("methods")
  <RequestT extends Message, ResponseT extends Message> void noFieldTakesAZeroCharacter(
      MethodDescriptor<RequestT, ResponseT> method) {
    PrototypeMarshaller<RequestT> requests =
        (PrototypeMarshaller<RequestT>) method.getRequestMarshaller();
    Map<String, RequestT> spoilt = new LinkedHashMap<>();
    spoil("", filled(requests.getMessagePrototype()), spoilt);
    spoilt.forEach(
        (field, request) -> {
          StatusRuntimeException refused = refused(method, request);
          assertThat(refused.getStatus().getCode())
              .as(field)
              .isEqualTo(Status.Code.INVALID_ARGUMENT);
          if (!method.equals(getAddInstallMethod()) || !field.equals("install_id")) {
            assertThat(violations(refused)).contains(field);
          } // where a field is the key, the library has the first look
        });
  }

  @Test
  void aNameIsCountedInCharactersWhateverTheirWidth() {
    assertThat(nameOf("\uD83D\uDE80".repeat(100))).isEqualTo("\uD83D\uDE80".repeat(100));
    assertThat(violations(refused(getCreateProjectMethod(), project("\uD83D\uDE80".repeat(101)))))
        .containsExactly("name");
  }

  @Test
  void aProblemOfAnImportIsReportedForItsLine() {
    MemberLine good =
        MemberLine.newBuilder()
            .setToken("row")
            .setUserId(UUID.randomUUID().toString())
            .setRole("specialist")
            .build();
    ImportMembersRequest request =
        ImportMembersRequest.newBuilder()
            .setProjectId(UUID.randomUUID().toString())
            .addLines(good)
            .addLines(good.toBuilder().setUserId("buzz"))
            .addLines(good)
            .addLines(good.toBuilder().clearToken().setRole("mission\0specialist"))
            .build();
    assertThat(violations(refused(getImportMembersMethod(), request)))
        .containsExactlyInAnyOrder("lines[2].user_id", "lines[4].token", "lines[4].role");
  }

  @Test
  void aRequestThatIsWrongThroughoutIsRefusedInAnAnswerThatArrives() {
    ImportMembersRequest request =
        ImportMembersRequest.newBuilder()
            .addAllLines(Collections.nCopies(1000, MemberLine.getDefaultInstance()))
            .build();
    StatusRuntimeException refused = refused(getImportMembersMethod(), request);
    assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(violations(refused)).startsWith("project_id", "lines", "lines[1].token");
  }

  private String nameOf(String name) {
    return example
        .client()
        .call(ada, getCreateProjectMethod(), project(name))
        .response()
        .getProject()
        .getName();
  }

  private static CreateProjectRequest project(String name) {
    return CreateProjectRequest.newBuilder().setName(name).build();
  }

  private <RequestT extends Message, ResponseT extends Message> StatusRuntimeException refused(
      MethodDescriptor<RequestT, ResponseT> method, RequestT request) {
    Metadata headers =
        method.equals(APIKeyServiceGrpc.getRevokeAPIKeyMethod())
            ? ada
            : keyed(UuidCreator.getTimeOrderedEpoch(), ada);
    StatusRuntimeException refused =
        catchThrowableOfType(
            StatusRuntimeException.class, () -> example.client().call(headers, method, request));
    assertThat(refused).as("the refusal").isNotNull();
    return refused;
  }

  /** Puts something good into every field. */
  @SuppressWarnings("unchecked") // a builder builds what it was made from
  private static <M extends Message> M filled(M empty) {
    Message.Builder builder = empty.toBuilder();
    for (FieldDescriptor field : empty.getDescriptorForType().getFields()) {
      Object value =
          switch (field.getJavaType()) {
            case STRING -> field.getName().endsWith("id") ? UUID.randomUUID().toString() : "a@b";
            case MESSAGE -> filled(builder.newBuilderForField(field).build());
            case ENUM -> field.getEnumType().findValueByNumber(1);
            case INT -> 1;
            case LONG -> 1L;
            default -> throw new AssertionError("no request has had a " + field.getJavaType());
          };
      builder.setField(field, field.isRepeated() ? List.of(value) : value);
    }
    return (M) builder.build();
  }

  /** Collects, for each string in a message, the message with that one string spoilt. */
  @SuppressWarnings("unchecked") // a builder builds what it was made from
  private static <M extends Message> void spoil(String path, M good, Map<String, M> spoilt) {
    for (FieldDescriptor field : good.getDescriptorForType().getFields()) {
      String name = path + field.getName() + (field.isRepeated() ? "[1]" : "");
      Object value = field.isRepeated() ? good.getRepeatedField(field, 0) : good.getField(field);
      Map<String, Object> bad = new LinkedHashMap<>();
      if (value instanceof Message message) {
        Map<String, Message> within = new LinkedHashMap<>();
        spoil(name + ".", message, within);
        bad.putAll(within);
      } else if (field.getJavaType() == JavaType.STRING) {
        bad.put(name, value + "\0");
      }
      bad.forEach(
          (at, wrong) ->
              spoilt.put(
                  at,
                  (M)
                      good.toBuilder()
                          .setField(field, field.isRepeated() ? List.of(wrong) : wrong)
                          .build()));
    }
  }
}
