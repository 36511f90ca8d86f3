package io.github.grpcidempotency.procedure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.testing.v1.MisdescribedServiceGrpc;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.testing.v1.UnfitServiceGrpc;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProceduresTest {
  private static final String CREATE_THING =
      ThingServiceGrpc.getCreateThingMethod().getFullMethodName();
  private static final String CREATE_OTHER =
      ThingServiceGrpc.getCreateOtherMethod().getFullMethodName();

  private static final StatusResolver RESOLVER = id -> IdempotencyStatus.COMPLETED;

  @Test
  void aProcedureIsFoundByItsMethodsFullName() {
    Procedure other = Procedure.of(ThingServiceGrpc.getCreateOtherMethod()).build();
    Procedures procedures = Procedures.of(other);

    assertThat(procedures.find(CREATE_OTHER)).containsSame(other);
    assertThat(procedures.find(CREATE_THING)).isEmpty();
    assertThat(procedures.all()).containsExactly(other);
  }

  @Test
  void ofAServiceTheAnnotatedMethodsAreAdded() {
    Procedures procedures =
        Procedures.builder()
            .addAnnotated(
                ThingServiceGrpc.getServiceDescriptor(), resource -> Optional.of(RESOLVER))
            .build();

    assertThat(procedures.all()).extracting(Procedure::name).containsExactly(CREATE_THING);
    assertThat(procedures.find(CREATE_THING).flatMap(Procedure::statusResolver))
        .containsSame(RESOLVER);
  }

  @Test
  void aDescriptorInJavaOverridesTheOptionWhicheverComesFirst() {
    Procedure described =
        Procedure.of(ThingServiceGrpc.getCreateThingMethod())
            .retention(Duration.ofMinutes(1))
            .build();

    Procedures descriptorFirst =
        Procedures.builder()
            .add(described)
            .addAnnotated(ThingServiceGrpc.getServiceDescriptor(), resource -> Optional.empty())
            .build();
    Procedures optionFirst =
        Procedures.builder()
            .addAnnotated(ThingServiceGrpc.getServiceDescriptor(), resource -> Optional.empty())
            .add(described)
            .build();

    assertThat(descriptorFirst.all()).containsExactly(described);
    assertThat(optionFirst.all()).containsExactly(described);
  }

  @Test
  void everyProblemOfDescriptorsIsListedAtOnce() {
    MethodDescriptor<?, ?> streaming = ThingServiceGrpc.getCreateManyMethod();
    Procedures.Builder builder =
        Procedures.builder()
            .add(plain(streaming))
            .add(createOther().retention(Duration.ZERO).build())
            .add(createOther().retention(Duration.ofSeconds(-1)).status(RESOLVER).build());

    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("CreateMany: only unary methods can be idempotent")
        .hasMessageContaining("CLIENT_STREAMING")
        .hasMessageContaining("CreateOther: described twice")
        .hasMessageContaining("CreateOther: its retention must be positive, it is PT-1S")
        .hasMessageContaining("CreateOther: it has a status resolver but no resource");
  }

  @Test
  void everyProblemOfOptionsIsListedAtOnce() {
    Procedures.Builder builder =
        Procedures.builder()
            .addAnnotated(
                MisdescribedServiceGrpc.getServiceDescriptor(), resource -> Optional.empty())
            .addAnnotated(UnfitServiceGrpc.getServiceDescriptor(), resource -> Optional.empty());

    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("UnknownField: resource_id_field \"inner.thing.uid\"")
        .hasMessageContaining("NoField: resource_id_field \"\"")
        .hasMessageContaining("NotAString: resource_id_field \"inner.thing\"")
        .hasMessageContaining("BeyondAString: resource_id_field \"inner.thing.id.id\"")
        .hasMessageContaining("Repeated: resource_id_field \"all.id\"")
        .hasMessageContaining("BadResourceType: a resource type is lower case snake case")
        .hasMessageContaining("Streaming: only unary methods can be idempotent")
        .hasMessageContaining("NoRetention: its retention must be positive, it is PT0S");
  }

  @Test
  void aMethodWithoutProtobufMessagesIsRefused() {
    MethodDescriptor<String, String> text =
        MethodDescriptor.<String, String>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("text.Service/Method")
            .setRequestMarshaller(new TextMarshaller())
            .setResponseMarshaller(new TextMarshaller())
            .build();

    assertThatThrownBy(() -> Procedures.of(plain(text)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("text.Service/Method: its messages are not protobuf messages");
  }

  /** A descriptor that says nothing but what it describes. */
  private static Procedure plain(MethodDescriptor<?, ?> method) {
    return new Procedure() {
      @Override
      public Optional<MethodDescriptor<?, ?>> method() {
        return Optional.of(method);
      }

      @Override
      public String name() {
        return method.getFullMethodName();
      }
    };
  }

  private static final class TextMarshaller implements MethodDescriptor.Marshaller<String> {
    @Override
    public InputStream stream(String text) {
      return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String parse(InputStream bytes) {
      throw new UnsupportedOperationException("nothing is sent");
    }
  }

  private static ProcedureBuilder<Thing> createOther() {
    return Procedure.of(ThingServiceGrpc.getCreateOtherMethod());
  }
}
