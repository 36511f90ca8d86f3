package io.github.grpcidempotency.procedure;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.resource.StatusResolver;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.MisdescribedServiceGrpc;
import io.github.grpcidempotency.testing.v1.OlderSyntax;
import io.github.grpcidempotency.testing.v1.OptionServiceGrpc;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.testing.v1.UnfitServiceGrpc;
import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.testing.TestMethodDescriptors;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ProceduresTest {
  private static final String CREATE_THING =
      ThingServiceGrpc.getCreateThingMethod().getFullMethodName();
  private static final String CREATE_OTHER =
      ThingServiceGrpc.getCreateOtherMethod().getFullMethodName();

  private static final String NO_ID = " is not a singular string or integer field of Nested";
  private static final String INTERNAL =
      "InternalButKept: its key policy is HANDLER_INTERNAL, so its ";

  private static final StatusResolver RESOLVER = id -> IdempotencyStatus.COMPLETED;

  @Test
  void aProcedureIsFoundByItsMethodsFullName() {
    Procedure other =
        Procedure.of(ThingServiceGrpc.getCreateOtherMethod()).execution(Execution.RESERVED).build();
    Procedures procedures = Procedures.of(other);

    assertThat(procedures.find(CREATE_OTHER)).containsSame(other);
    assertThat(procedures.find(CREATE_THING)).isEmpty();
    assertThat(procedures.all()).containsExactly(other);
  }

  @Test
  void onlyTheAnnotatedMethodsOfAServiceAreAdded() {
    Procedures procedures =
        Procedures.builder()
            .addAnnotated(ThingServiceGrpc.getServiceDescriptor())
            .status("thing", RESOLVER)
            .build();

    assertThat(procedures.all()).extracting(Procedure::name).containsExactly(CREATE_THING);
    assertThat(procedures.find(CREATE_THING).flatMap(Procedure::statusSource))
        .containsSame(RESOLVER);
  }

  @Test
  void aProcedureWithoutAnExecutionShowsTheLinesToChooseFrom() {
    String problem =
        """
        : it has no execution; choose one of
            .execution(Execution.TRANSACTIONAL), or execution: EXECUTION_TRANSACTIONAL in its option, \
        if its handler only writes to the store's database: effect and record are one commit
            .execution(Execution.RESERVED), or execution: EXECUTION_RESERVED in its option, \
        for any other handler: after a crash between effect and record, a retry runs the handler again\
        """;
    MethodDescriptor<?, ?> unsaid = OptionServiceGrpc.getNothingMethod();

    assertThat(
            Procedures.of(
                    Procedure.of(ThingServiceGrpc.getCreateOtherMethod()).build(),
                    Procedure.named("jobs/close-month").build(),
                    Procedure.annotated(OptionServiceGrpc.getNothingMethod()).build(),
                    Procedure.of(ThingServiceGrpc.getDeleteThingMethod())
                        .keyPolicy(KeyPolicy.PROHIBITED)
                        .build())
                .problems())
        .containsExactlyInAnyOrder(
            CREATE_OTHER + problem,
            "jobs/close-month" + problem,
            unsaid.getFullMethodName() + problem);
    assertThat(
            Procedures.builder()
                .addAnnotated(OptionServiceGrpc.getServiceDescriptor())
                .defaultExecution(
                    method ->
                        Optional.of(Execution.TRANSACTIONAL).filter(chosen -> method == unsaid))
                .build()
                .find(unsaid.getFullMethodName())
                .map(Procedure::execution))
        .contains(Execution.TRANSACTIONAL);
  }

  @Test
  void aProcedureWithARequiredKeyFailsClosedByDefault() {
    ProcedureBuilder<Thing> reserved = createOther().execution(Execution.RESERVED);

    assertThat(reserved.build().outagePolicy()).isEqualTo(OutagePolicy.FAIL_OPEN);
    assertThat(createOther().keyPolicy(KeyPolicy.REQUIRED).build().outagePolicy())
        .isEqualTo(OutagePolicy.FAIL_CLOSED);
    assertThat(
            createOther()
                .keyPolicy(KeyPolicy.REQUIRED)
                .outage(OutagePolicy.FAIL_OPEN)
                .build()
                .outagePolicy())
        .isEqualTo(OutagePolicy.FAIL_OPEN);
  }

  @Test
  void aStatusThatNoAnnotatedMethodUsesIsAProblem() {
    assertThat(
            Procedures.builder()
                .addAnnotated(ThingServiceGrpc.getServiceDescriptor())
                .status("thong", RESOLVER)
                .build()
                .problems())
        .containsExactly(
            "status(\"thong\", …) has no effect: no method of addAnnotated(…) has this"
                + " resource_type in its option");
  }

  @Test
  void servicesWithoutAnyOptionAreAProblem() {
    assertThat(
            Procedures.builder()
                .addAnnotated(RecoveryGrpc.getServiceDescriptor())
                .build()
                .problems())
        .containsExactly(
            "addAnnotated(idempotency.v1.Recovery) has no effect: no method has the option"
                + " (idempotency.v1.procedure)");
    assertThat(
            Procedures.builder()
                .addAnnotated(RecoveryGrpc.getServiceDescriptor())
                .addAnnotated(ThingServiceGrpc.getServiceDescriptor())
                .build()
                .problems())
        .isEmpty();
  }

  @Test
  void aDescriptorInJavaOverridesTheOptionWhicheverComesFirst() {
    Procedure described =
        Procedure.of(ThingServiceGrpc.getCreateThingMethod())
            .execution(Execution.RESERVED)
            .retention(Duration.ofMinutes(1))
            .build();

    Procedures descriptorFirst =
        Procedures.builder()
            .add(described)
            .addAnnotated(ThingServiceGrpc.getServiceDescriptor())
            .build();
    Procedures optionFirst =
        Procedures.builder()
            .addAnnotated(ThingServiceGrpc.getServiceDescriptor())
            .add(described)
            .build();

    assertThat(descriptorFirst.all()).containsExactly(described);
    assertThat(optionFirst.all()).containsExactly(described);
  }

  @Test
  void everyProblemOfDescriptorsIsListedAtOnce() {
    MethodDescriptor<?, ?> streaming = ThingServiceGrpc.getCreateManyMethod();

    assertThat(
            Procedures.of(
                    plain(streaming),
                    createOther().retention(Duration.ZERO).build(),
                    createOther()
                        .retention(Duration.ofSeconds(-1))
                        .status(RESOLVER)
                        .keyFrom(KeySource.requestField("colour"))
                        .keyFormat(KeyFormat.opaque())
                        .fingerprint(Fingerprinter.wholeRequest().ignoringSince(2, "size"))
                        .omit("secret")
                        .failures(FailurePolicy.releaseAll().withTrailers("x why"))
                        .build())
                .problems())
        .containsExactlyInAnyOrder(
            "idempotency.testing.v1.ThingService/CreateMany: only unary methods can be"
                + " idempotent, this one is CLIENT_STREAMING; remove its procedure, or set its"
                + " key policy to PROHIBITED",
            CREATE_OTHER + ": it has two descriptors: remove one of them",
            CREATE_OTHER + ": its retention must be at least a millisecond, not PT-1S",
            CREATE_OTHER
                + ": it has a status source, but no resource type: set a resource, or remove the"
                + " status source",
            CREATE_OTHER
                + ": its key: \"colour\" is not a singular string field of"
                + " idempotency.testing.v1.CreateThingRequest",
            CREATE_OTHER
                + ": it has a key format for the standard header, but its key comes from another"
                + " source: set the format of that source",
            CREATE_OTHER
                + ": the fingerprint ignores \"size\", which is not a field of"
                + " idempotency.testing.v1.CreateThingRequest",
            CREATE_OTHER
                + ": it omits \"secret\", which is not a field of idempotency.testing.v1.Thing",
            CREATE_OTHER + ": it records the trailer \"x why\", which is not a valid name");
  }

  @Test
  void everyProblemOfOptionsIsListedAtOnce() {
    List<String> problems =
        Procedures.builder()
            .addAnnotated(MisdescribedServiceGrpc.getServiceDescriptor())
            .addAnnotated(UnfitServiceGrpc.getServiceDescriptor())
            .defaultExecution(method -> Optional.of(Execution.RESERVED))
            .build()
            .problems();

    assertThat(problems)
        .allSatisfy(problem -> assertThat(problem).startsWith("idempotency.testing.v1."));
    assertThat(
            problems.stream()
                .map(problem -> problem.substring(problem.indexOf('/') + 1))
                .map(problem -> problem.replace("idempotency.testing.v1.", "")))
        .containsExactlyInAnyOrder(
            "UnknownField: the id of the resource that it creates: \"inner.thing.uid\"" + NO_ID,
            "NoField: it has a resource_type, but no resource_id_field: name the field of the"
                + " response with the id, or for a delete the deleted_id_field of the request",
            "NotAString: the id of the resource that it creates: \"inner.thing\"" + NO_ID,
            "BeyondAString: the id of the resource that it creates: \"inner.thing.id.id\"" + NO_ID,
            "Repeated: the id of the resource that it creates: \"all.id\"" + NO_ID,
            "BadResourceType: a resource type must be in lower case snake case and have at most"
                + " 60 characters, not \"A Thing\"",
            "NoType: it has a resource_id_field, which has no effect without resource_type",
            "DeletedWithoutType: it has a deleted_id_field, which has no effect without"
                + " resource_type",
            "DeletedUnknownField: the id of the resource that it deletes: \"thing.uid\" is not a"
                + " singular string or integer field of CreateThingRequest",
            "DeletedNotAString: the id of the resource that it deletes: \"thing\" is not a"
                + " singular string or integer field of CreateThingRequest",
            "DeletedAndCreated: it has both a resource that it creates and a resource that it"
                + " deletes: remove one of them",
            "NegativeAttach: the time that a duplicate waits must be 0 to 36500 days, not PT-1S",
            "BadOmission: it omits \"inner.thing.secret\", which is not a field of Nested",
            "BadSources: a key source is empty: set metadata, request_field, request_id,"
                + " assigned_id or content",
            "BadSources: a key source has request_id: false, which has no effect: set it to true,"
                + " or remove it",
            "BadSources: a content key needs at least one field",
            "BadSources: its key: \"colour\" is not a field of CreateThingRequest",
            "BadSources: its key: \"labels\" is not a singular string field of CreateThingRequest",
            "BadSources: its key: \"thing.uid\" is not a singular string field of"
                + " CreateThingRequest",
            "BadSources: a key source with request_id, assigned_id or content must not have a"
                + " format or a pattern",
            "BadSources: its key: \"x-key-bin\" is not the name of an ASCII header",
            "BadSources: the key format KEY_FORMAT_PATTERN needs a pattern",
            "BadSources: a key pattern has no effect without the format KEY_FORMAT_PATTERN",
            "BadSources: the key's pattern is malformed: Unclosed character class near index 3",
            "ProhibitedButKeyed: its key policy is PROHIBITED, so its key source has no effect:"
                + " remove it",
            INTERNAL + "retention has no effect: remove it",
            INTERNAL + "attach setting has no effect: remove it",
            INTERNAL + "list of omitted fields has no effect: remove it",
            "OpenTransaction: it is TRANSACTIONAL, so it cannot run without its database: set its"
                + " outage policy to FAIL_CLOSED",
            "BadMark: fingerprint_ignored_since of BadlyMarkedRequest.sent must be 1 to 32767,"
                + " not 40000",
            "BadMark: fingerprint_ignored_since of BadlyMarkedRequest.seen must be 1 to 32767,"
                + " not -1",
            "Streaming: only unary methods can be idempotent, this one is CLIENT_STREAMING;"
                + " remove its procedure, or set its key policy to PROHIBITED",
            "InternalStreaming: only unary methods can be idempotent, this one is"
                + " SERVER_STREAMING; remove its procedure, or set its key policy to PROHIBITED",
            "TransactionalStreaming: only unary methods can be transactional, this one is"
                + " BIDI_STREAMING: remove its execution",
            "Reading: it has NO_SIDE_EFFECTS, so there is nothing to make idempotent: remove its"
                + " procedure, or set its key policy to PROHIBITED",
            "NoRetention: its retention must be at least a millisecond, not PT0S",
            "EndlessRetention: its retention must be at most 36500 days, not PT87660000H");
  }

  @Test
  void settingsInJavaThatDoNotFitTogetherAreProblems() {
    assertThat(
            Procedures.of(
                    createOther()
                        .execution(Execution.RESERVED)
                        .claimAtCommit()
                        .keyFormat(KeyFormat.opaque())
                        .keyFrom(KeySource.requestId())
                        .failures(FailurePolicy.releaseAll().withTrailers("x why"))
                        .build(),
                    Procedure.of(ThingServiceGrpc.getCreateThingMethod())
                        .execution(Execution.TRANSACTIONAL)
                        .failures(FailurePolicy.releaseAll().withUnknown(Code.UNKNOWN))
                        .build())
                .problems())
        .extracting(problem -> problem.substring(problem.indexOf(": ") + 2))
        .containsExactlyInAnyOrder(
            "it is claimed at its commit, but its execution is not TRANSACTIONAL: remove"
                + " claimAtCommit(), or change the execution",
            "it has a key format for the standard header, but its key comes from another source: set"
                + " the format of that source",
            "it records the trailer \"x why\", which is not a valid name",
            "it is TRANSACTIONAL, so a failed call has no effect: remove the unknown codes");
  }

  @Test
  void settingsWithoutEffectOnAProhibitedOrInternalProcedureAreProblems() {
    for (KeyPolicy policy : List.of(KeyPolicy.PROHIBITED, KeyPolicy.HANDLER_INTERNAL)) {
      assertThat(Procedures.of(createOther().keyPolicy(policy).build()).problems()).isEmpty();
      assertThat(
              Procedures.of(
                      createOther()
                          .keyPolicy(policy)
                          .keyFrom(KeySource.requestId())
                          .keyFormat(KeyFormat.opaque())
                          .resource(ResourceType.of("thing"), thing -> ResourceId.of(7))
                          .status(RESOLVER)
                          .retainFromLastReplay()
                          .claimAtCommit()
                          .attach(Duration.ofSeconds(1))
                          .failures(FailurePolicy.releaseAll().withTerminal(Code.ABORTED))
                          .protect(new NoProtection())
                          .omit("name")
                          .guard((caller, resource) -> true)
                          .build())
                  .problems())
          .hasSize(11)
          .allSatisfy(problem -> assertThat(problem).endsWith(" has no effect: remove it"));
    }
  }

  @Test
  void settingsThatDoNotFitADeleteAreProblems() {
    ResourceType type = ResourceType.of("thing");

    assertThat(Procedures.of(createOther().deletes(type, "thing.id").build()).problems()).isEmpty();
    assertThat(
            Procedures.of(
                    createOther()
                        .deletes(type, "labels")
                        .resource(type, thing -> ResourceId.of(7))
                        .rebuild((caller, id) -> Optional.empty())
                        .build())
                .problems())
        .containsExactlyInAnyOrder(
            CREATE_OTHER
                + ": the id of the resource that it deletes: \"labels\" is not a singular string"
                + " or integer field of idempotency.testing.v1.CreateThingRequest",
            CREATE_OTHER
                + ": it has both a resource that it creates and a resource that it deletes:"
                + " remove one of them",
            CREATE_OTHER
                + ": it rebuilds its response from the resource that it deletes: remove the"
                + " rebuilder");
  }

  @Test
  void theIdOfTheResourceThatWorkDeletesIsReadFromItsInput() {
    UUID id = UUID.randomUUID();
    Procedure byPath =
        Procedure.named("jobs/forget")
            .execution(Execution.RESERVED)
            .deletes(ResourceType.of("thing"), "id")
            .build();
    Procedure byFunction =
        Procedure.named("jobs/forget")
            .execution(Execution.RESERVED)
            .deletes(
                ResourceType.of("thing"),
                input -> ResourceId.of(((Thing) input).getName().substring("things/".length())))
            .build();

    assertThat(byPath.deletedId(Thing.newBuilder().setId(id.toString()).build()))
        .contains(ResourceId.of(id));
    assertThat(byPath.deletedId(CreateThingRequest.getDefaultInstance())).isEmpty();
    assertThat(byFunction.deletedId(Thing.newBuilder().setName("things/" + id).build()))
        .contains(ResourceId.of(id));
  }

  @Test
  void aRetentionThatCannotBeReadIsAProblem() {
    Procedure broken =
        createOther()
            .retention(
                () -> {
                  throw new IllegalStateException("the settings are gone");
                })
            .build();

    assertThat(Procedures.of(broken).problems())
        .singleElement()
        .asString()
        .contains("its retention cannot be read: ")
        .contains("the settings are gone");
  }

  /** The record of a response without it could be written, and not be read. */
  @Test
  void aFieldThatAResponseMustHaveCannotBeOmitted() {
    MethodDescriptor<OlderSyntax, OlderSyntax> method =
        MethodDescriptor.<OlderSyntax, OlderSyntax>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("older.Service/Method")
            .setRequestMarshaller(ProtoUtils.marshaller(OlderSyntax.getDefaultInstance()))
            .setResponseMarshaller(ProtoUtils.marshaller(OlderSyntax.getDefaultInstance()))
            .build();

    assertThat(
            Procedures.of(
                    Procedure.of(method).execution(Execution.RESERVED).omit("name", "word").build())
                .problems())
        .containsExactly(
            "older.Service/Method: it omits \"name\", a required field: without it the record"
                + " could not be read");
  }

  @Test
  void aMethodWithoutProtobufMessagesIsAProblem() {
    MethodDescriptor<Void, Void> empty = TestMethodDescriptors.voidMethod();

    assertThat(Procedures.of(plain(empty)).problems())
        .containsExactly(
            empty.getFullMethodName()
                + ": its request or its response is not a"
                + " protobuf message");
  }

  @SuppressWarnings("unchecked") // also of a method whose messages are no protobuf messages
  private static Procedure plain(MethodDescriptor<?, ?> method) {
    return Procedure.of((MethodDescriptor<Message, Message>) method)
        .execution(Execution.RESERVED)
        .build();
  }

  private static final class NoProtection implements ResponseProtection {
    @Override
    public ByteString seal(ByteString answer, ByteString binding) {
      throw new UnsupportedOperationException("nothing is recorded");
    }

    @Override
    public ByteString open(ByteString stored, ByteString binding) {
      throw new UnsupportedOperationException("nothing is recorded");
    }
  }

  private static ProcedureBuilder<Thing> createOther() {
    return Procedure.of(ThingServiceGrpc.getCreateOtherMethod()).execution(Execution.RESERVED);
  }
}
