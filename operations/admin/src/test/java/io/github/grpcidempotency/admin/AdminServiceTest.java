package io.github.grpcidempotency.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.groups.Tuple.tuple;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.admin.service.AdminErrorReason;
import io.github.grpcidempotency.admin.service.AdminService;
import io.github.grpcidempotency.admin.service.Authorizer;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.proto.v1.AdminGrpc;
import io.github.grpcidempotency.proto.v1.AdminGrpc.AdminBlockingStub;
import io.github.grpcidempotency.proto.v1.AuditEntry;
import io.github.grpcidempotency.proto.v1.FindOperationsRequest;
import io.github.grpcidempotency.proto.v1.FindOperationsResponse;
import io.github.grpcidempotency.proto.v1.ForgetOperationRequest;
import io.github.grpcidempotency.proto.v1.FreeOperationRequest;
import io.github.grpcidempotency.proto.v1.GetContentsRequest;
import io.github.grpcidempotency.proto.v1.GetOperationRequest;
import io.github.grpcidempotency.proto.v1.GetStatisticsRequest;
import io.github.grpcidempotency.proto.v1.GetStatisticsResponse;
import io.github.grpcidempotency.proto.v1.ListAuditEntriesRequest;
import io.github.grpcidempotency.proto.v1.ListAuditEntriesResponse;
import io.github.grpcidempotency.proto.v1.ListOperationsRequest;
import io.github.grpcidempotency.proto.v1.ListOperationsResponse;
import io.github.grpcidempotency.proto.v1.RecordedOperation;
import io.github.grpcidempotency.proto.v1.SweepOperationsRequest;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.testing.GrpcCleanupExtension;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** The admin service as a host offers it: over a socket, behind its authentication. */
class AdminServiceTest {
  private static final Metadata.Key<String> USER =
      Metadata.Key.of("user", Metadata.ASCII_STRING_MARSHALLER);
  private static final Context.Key<String> CALLER = Context.key("caller");
  private static final Authorizer EVERYBODY = (action, tenant) -> Optional.of(CALLER.get());

  @RegisterExtension static final Shop shop = Shop.open();
  @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension();

  @Test
  void anOperationIsFoundByItsId() throws IOException {
    Claim claim = shop.claim(inTenant("acme", "k-1"));

    RecordedOperation found = get(serve(EVERYBODY), claim.operationId());

    assertThat(found.getState()).isEqualTo(RecordedOperation.State.STATE_RUNNING);
    assertThat(found.getKey()).isEqualTo("k-1");
    assertThat(found.getNamespace()).isEqualTo("acme/-");
    assertThat(found.getProcedure()).isEqualTo(Shop.CREATE_ORDER);
    assertThat(found.getAttempt()).isEqualTo(1);
    assertThat(found.hasCompleteTime()).isFalse();
    assertThat(found.getLeaseExpireTime().getSeconds())
        .isGreaterThan(found.getReadTime().getSeconds());
  }

  @Test
  void aKeyIsShownToThoseOnlyWhoMaySeeKeysAndInNoList() throws IOException {
    Claim claim = shop.claim(inTenant("acme", "k-1"));
    AdminBlockingStub all = serve(EVERYBODY);
    AdminBlockingStub viewer = serve(may(AdminAction.VIEW));

    assertThat(get(viewer, claim.operationId()).getKey()).isEmpty();
    assertThat(list(all).getOperations(0).getKey()).isEmpty();
    assertThat(findKey(all, "k-1", "acme/-").getOperations(0).getKey()).isEmpty();
  }

  @Test
  void aKeyIsFoundInItsNamespaceHoweverAUuidIsWritten() throws IOException {
    String key = "018f3a1e-aaaa-7000-8000-000000000001";
    Claim claim = shop.claim(inTenant("acme", key));
    AdminBlockingStub stub = serve(EVERYBODY);

    assertThat(ids(findKey(stub, key.toUpperCase(Locale.ROOT), "acme/-")))
        .containsExactly(claim.operationId().toString());
    assertThat(findKey(stub, key, "").getOperationsList()).isEmpty();
    assertInvalid("key", () -> findKey(stub, "", ""));
  }

  @Test
  void aRequestWithAUserReturnsWhetherTheKeyIsRunning() throws IOException {
    Caller caller = Caller.of(UUID.randomUUID());
    shop.claim(Shop.request(caller, "k-2"));
    AdminBlockingStub stub = serve(EVERYBODY);
    FindOperationsRequest request =
        FindOperationsRequest.newBuilder()
            .setKey("k-2")
            .setUserId(caller.userId().toString())
            .build();

    assertThat(stub.findOperations(request).getRunning()).isTrue();
    FindOperationsResponse other =
        stub.findOperations(request.toBuilder().setUserId(UUID.randomUUID().toString()).build());
    assertThat(other.hasRunning()).isTrue();
    assertThat(other.getRunning()).isFalse();
    assertThat(other.getOperationsList()).isEmpty();
    assertThat(findKey(stub, "k-2", "").hasRunning()).isFalse();
  }

  @Test
  void operationsAreListedInPages() throws IOException {
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      expected.add(0, shop.claim().operationId().toString());
    }
    shop.record();
    AdminBlockingStub stub = serve(EVERYBODY);
    ListOperationsRequest request =
        ListOperationsRequest.newBuilder()
            .setPageSize(2)
            .addStates(RecordedOperation.State.STATE_RUNNING)
            .build();

    List<String> listed = new ArrayList<>();
    ListOperationsResponse page = stub.listOperations(request);
    page.getOperationsList().forEach(operation -> listed.add(operation.getId()));
    while (!page.getNextPageToken().isEmpty()) {
      page = stub.listOperations(request.toBuilder().setPageToken(page.getNextPageToken()).build());
      assertThat(page.getOperationsCount()).isLessThanOrEqualTo(2);
      page.getOperationsList().forEach(operation -> listed.add(operation.getId()));
    }

    assertThat(listed).isEqualTo(expected);
  }

  @Test
  void theProblemsOfARequestAreReported() throws IOException {
    AdminBlockingStub stub = serve(EVERYBODY);
    shop.claim();
    shop.claim();
    ListOperationsRequest two = ListOperationsRequest.newBuilder().setPageSize(1).build();
    String token = stub.listOperations(two).getNextPageToken();

    assertInvalid("page_size", () -> stub.listOperations(two.toBuilder().setPageSize(-1).build()));
    for (String bad : List.of("x", "!!!!", "AAAA", token + "AA", "AAAAAAAA")) {
      assertInvalid(
          "page_token", () -> stub.listOperations(two.toBuilder().setPageToken(bad).build()));
    }
    assertInvalid(
        "page_token",
        () ->
            stub.listOperations(
                two.toBuilder().setPageToken(token).setProcedure("another").build()));
    assertInvalid(
        "user_id", () -> stub.listOperations(two.toBuilder().setUserId("1-1-1-1-1").build()));
    assertInvalid("states", () -> stub.listOperations(two.toBuilder().addStatesValue(99).build()));
    com.google.protobuf.Duration.Builder negative =
        com.google.protobuf.Duration.newBuilder().setSeconds(-1);
    assertInvalid(
        "older_than", () -> stub.listOperations(two.toBuilder().setOlderThan(negative).build()));
    assertInvalid("operation", () -> get(stub, "no-uuid"));
  }

  @Test
  void anUnknownOperationIsNotFound() throws IOException {
    AdminBlockingStub stub = serve(EVERYBODY);
    UUID none = UUID.randomUUID();

    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> get(stub, none),
            () -> stub.freeOperation(free(none).build()),
            () -> stub.forgetOperation(forget(none).build()),
            () -> stub.getContents(contents(none)))) {
      assertRefused(Status.Code.NOT_FOUND, AdminErrorReason.IDEMPOTENCY_OPERATION_UNKNOWN, call);
    }
  }

  @Test
  void aStuckReservationIsFreedOnBehalfOfTheAuthorizersActor() throws IOException {
    UUID id = shop.claim().operationId();
    shop.endLease(id);
    AdminBlockingStub stub = serve(EVERYBODY);

    stub.freeOperation(free(id).setValidateOnly(true).build());
    assertThat(audit(stub, id)).isEmpty();
    RecordedOperation before = stub.freeOperation(free(id).build()).getOperation();

    assertThat(before.getState()).isEqualTo(RecordedOperation.State.STATE_STUCK);
    assertThat(exists(id)).isFalse();
    AuditEntry entry = audit(stub, id).get(0);
    assertThat(entry.getActor()).isEqualTo("ada");
    assertThat(entry.getRole()).isEqualTo(Shop.OPERATOR);
    assertThat(entry.getAct()).isEqualTo("free");
    assertThat(entry.getReason()).isEqualTo("ticket 4711");
    assertThat(entry.getResult()).isEqualTo(AuditEntry.Result.RESULT_DONE);
    assertThat(entry.getDeleted()).isEqualTo(1);
  }

  @Test
  void aLiveReservationIsProtectedUnlessTheRequestForcesIt() throws IOException {
    UUID id = shop.claim().operationId();
    AdminBlockingStub stub = serve(EVERYBODY);

    for (boolean validateOnly : new boolean[] {true, false}) {
      assertRefused(
          Status.Code.FAILED_PRECONDITION,
          AdminErrorReason.IDEMPOTENCY_OWNER_LIVES,
          () -> stub.freeOperation(free(id).setValidateOnly(validateOnly).build()));
    }
    stub.freeOperation(free(id).setEvenIfLive(true).build());

    assertThat(exists(id)).isFalse();
    assertThat(audit(stub, id))
        .extracting(AuditEntry::getResult, AuditEntry::getForced)
        .containsExactly(
            tuple(AuditEntry.Result.RESULT_DONE, true),
            tuple(AuditEntry.Result.RESULT_OWNER_LIVES, false));
  }

  @Test
  void aRecordIsForgottenAndAReservationIsNot() throws IOException {
    UUID recorded = shop.record().operationId();
    UUID running = shop.claim().operationId();
    AdminBlockingStub stub = serve(EVERYBODY);

    assertRefused(
        Status.Code.FAILED_PRECONDITION,
        AdminErrorReason.IDEMPOTENCY_OPERATION_RECORDED,
        () -> stub.freeOperation(free(recorded).build()));
    assertRefused(
        Status.Code.FAILED_PRECONDITION,
        AdminErrorReason.IDEMPOTENCY_OPERATION_UNFINISHED,
        () -> stub.forgetOperation(forget(running).build()));
    stub.forgetOperation(forget(recorded).setValidateOnly(true).build());
    assertThat(exists(recorded)).isTrue();
    stub.forgetOperation(forget(recorded).build());

    assertThat(exists(recorded)).isFalse();
    assertThat(exists(running)).isTrue();
  }

  @Test
  void anActWithoutAReasonIsRefused() throws IOException {
    UUID id = shop.record().operationId();
    AdminBlockingStub stub = serve(EVERYBODY);

    for (String reason : List.of("", "  ", "x".repeat(1_001))) {
      assertInvalid("reason", () -> stub.freeOperation(free(id).setReason(reason).build()));
      assertInvalid("reason", () -> stub.forgetOperation(forget(id).setReason(reason).build()));
      assertInvalid(
          "reason", () -> stub.getContents(contents(id).toBuilder().setReason(reason).build()));
      assertInvalid(
          "reason",
          () ->
              stub.sweepOperations(SweepOperationsRequest.newBuilder().setReason(reason).build()));
    }
    assertThat(exists(id)).isTrue();
  }

  @Test
  void contentsAreReadOnlyWithTheRight() throws IOException {
    UUID id = shop.record().operationId();
    shop.execute(Shop.OWNER, "SELECT idempotency.grant_operator_to('admin_reader')");
    AdminBlockingStub reader = serve(shop.reader(), EVERYBODY);

    assertThat(reader.getContents(contents(id)).getResponse().toStringUtf8())
        .isEqualTo("an answer");
    assertThat(audit(reader, id)).extracting(AuditEntry::getAct).containsExactly("read_contents");
    assertThat(reader.getContents(contents(shop.claim().operationId())).hasResponse()).isFalse();
  }

  @Test
  void anActionWithoutADatabaseRightIsRefusedEvenIfTheAuthorizerAllowsIt() throws IOException {
    UUID id = shop.record().operationId();

    assertRefused(
        Status.Code.FAILED_PRECONDITION,
        AdminErrorReason.IDEMPOTENCY_ADMIN_NOT_SET_UP,
        () -> serve(EVERYBODY).getContents(contents(id)));
  }

  @Test
  void expiredRecordsAreSweptAndCounted() throws IOException {
    UUID id = shop.record().operationId();
    shop.claim();
    shop.expire(id);
    AdminBlockingStub stub = serve(EVERYBODY);
    GetStatisticsRequest numbers = GetStatisticsRequest.getDefaultInstance();

    GetStatisticsResponse before = stub.getStatistics(numbers);
    assertThat(before.getExpired()).isEqualTo(1);
    assertThat(before.getInFlight().getAll()).isEqualTo(1);
    assertThat(before.hasSweepLag()).isTrue();
    assertThat(
            stub.sweepOperations(SweepOperationsRequest.newBuilder().setReason("full").build())
                .getDeleted())
        .isEqualTo(1);
    assertThat(stub.getStatistics(numbers).getExpired()).isZero();
  }

  @Test
  void theAuditIsListedInPages() throws IOException {
    AdminBlockingStub stub = serve(EVERYBODY);
    for (int i = 0; i < 3; i++) {
      stub.forgetOperation(forget(shop.record().operationId()).setReason("reason " + i).build());
    }
    ListAuditEntriesRequest request = ListAuditEntriesRequest.newBuilder().setPageSize(2).build();

    ListAuditEntriesResponse first = stub.listAuditEntries(request);
    assertThat(first.getAuditEntriesList())
        .extracting(AuditEntry::getReason)
        .containsExactly("reason 2", "reason 1");
    ListAuditEntriesRequest next =
        request.toBuilder().setPageToken(first.getNextPageToken()).build();
    ListAuditEntriesResponse second = stub.listAuditEntries(next);
    assertThat(second.getAuditEntriesList())
        .extracting(AuditEntry::getReason)
        .containsExactly("reason 0");
    assertThat(second.getNextPageToken()).isEmpty();
    assertInvalid(
        "page_token",
        () ->
            stub.listAuditEntries(
                next.toBuilder().setOperation(UUID.randomUUID().toString()).build()));
  }

  @Test
  void everyMethodAsksForItsOwnAction() throws IOException {
    UUID id = shop.record().operationId();
    for (AdminAction action : AdminAction.values()) {
      ConcurrentLinkedQueue<AdminAction> asked = new ConcurrentLinkedQueue<>();
      AdminBlockingStub stub =
          serve(
              (each, tenant) -> {
                asked.add(each);
                return Optional.of("ada").filter(actor -> each != action);
              });
      for (ThrowingCallable call : callsNeeding(action, stub, id)) {
        assertRefused(
            Status.Code.PERMISSION_DENIED, AdminErrorReason.IDEMPOTENCY_ADMIN_DENIED, call);
      }
      assertThat(asked).allMatch(action::equals);
    }
    assertThat(exists(id)).isTrue();
  }

  private static List<ThrowingCallable> callsNeeding(
      AdminAction action, AdminBlockingStub stub, UUID id) {
    return switch (action) {
      case VIEW ->
          List.of(
              () -> get(stub, id),
              () -> list(stub),
              () -> findKey(stub, "k", ""),
              () -> stub.getStatistics(GetStatisticsRequest.getDefaultInstance()));
      // Leaves out the key; see the test above.
      case VIEW_KEY -> List.of();
      case FREE ->
          List.of(
              () -> stub.freeOperation(free(id).build()),
              () -> stub.freeOperation(free(id).setValidateOnly(true).build()));
      case FORGET ->
          List.of(
              () -> stub.forgetOperation(forget(id).build()),
              () -> stub.forgetOperation(forget(id).setValidateOnly(true).build()));
      case READ_CONTENTS -> List.of(() -> stub.getContents(contents(id)));
      case SWEEP ->
          List.of(
              () ->
                  stub.sweepOperations(SweepOperationsRequest.newBuilder().setReason("x").build()));
      case AUDIT -> List.of(() -> audit(stub, id));
    };
  }

  @Test
  void anAuthorizerThatFailsOrNamesNobodyRefuses() throws IOException {
    UUID id = shop.record().operationId();
    List<Authorizer> broken =
        List.of(
            (action, tenant) -> {
              throw new IllegalStateException("the directory is down");
            },
            (action, tenant) -> {
              throw Status.UNAVAILABLE.asRuntimeException();
            },
            (action, tenant) -> Optional.of(" "),
            (action, tenant) -> Optional.of("x".repeat(1_001)));

    for (Authorizer authorizer : broken) {
      assertRefused(
          Status.Code.PERMISSION_DENIED,
          AdminErrorReason.IDEMPOTENCY_ADMIN_DENIED,
          () -> serve(authorizer).forgetOperation(forget(id).build()));
    }
    assertThat(exists(id)).isTrue();
  }

  @Test
  void anActorOfATenantDoesNotSeeWhetherAnOperationOfAnotherTenantExists() throws IOException {
    UUID own = shop.claim(inTenant("acme", "k-1")).operationId();
    UUID others = shop.claim(inTenant("globex", "k-1")).operationId();
    UUID nobodys = shop.claim().operationId();
    AdminBlockingStub stub =
        serve((action, tenant) -> tenant.filter("acme"::equals).map(name -> "ann of " + name));

    assertThat(get(stub, own).getId()).isEqualTo(own.toString());
    assertThat(findKey(stub, "k-1", "acme/-").getOperationsCount()).isEqualTo(1);
    for (UUID hidden : List.of(others, nobodys, UUID.randomUUID())) {
      assertRefused(
          Status.Code.PERMISSION_DENIED,
          AdminErrorReason.IDEMPOTENCY_ADMIN_DENIED,
          () -> get(stub, hidden));
      assertRefused(
          Status.Code.PERMISSION_DENIED,
          AdminErrorReason.IDEMPOTENCY_ADMIN_DENIED,
          () -> stub.freeOperation(free(hidden).setEvenIfLive(true).build()));
    }
    assertRefused(
        Status.Code.PERMISSION_DENIED, AdminErrorReason.IDEMPOTENCY_ADMIN_DENIED, () -> list(stub));
    ListOperationsRequest ofTenant =
        ListOperationsRequest.newBuilder().setNamespace("acme").build();
    assertThat(stub.listOperations(ofTenant).getOperationsList())
        .extracting(RecordedOperation::getId)
        .containsExactly(own.toString());
  }

  @Test
  void anUnreachableDatabaseIsUnavailable() throws IOException {
    PGSimpleDataSource nowhere = new PGSimpleDataSource();
    nowhere.setUrl("jdbc:postgresql://localhost:1/none?user=nobody");

    StatusRuntimeException error =
        assertRefused(
            Status.Code.UNAVAILABLE,
            AdminErrorReason.IDEMPOTENCY_STORE_UNAVAILABLE,
            () -> list(serve(Administration.on(nowhere), EVERYBODY)));
    assertThat(error).hasMessageNotContaining("localhost");
  }

  private AdminBlockingStub serve(Authorizer authorizer) throws IOException {
    return serve(shop.operator(), authorizer);
  }

  private AdminBlockingStub serve(Administration administration, Authorizer authorizer)
      throws IOException {
    Server server =
        grpc.register(
            Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
                .addService(
                    ServerInterceptors.intercept(
                        AdminService.of(administration, authorizer), new Authentication()))
                .build()
                .start());
    Metadata headers = new Metadata();
    headers.put(USER, "ada");
    return AdminGrpc.newBlockingStub(
            grpc.register(
                Grpc.newChannelBuilder(
                        "localhost:" + server.getPort(), InsecureChannelCredentials.create())
                    .build()))
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private static Authorizer may(AdminAction... actions) {
    return (action, tenant) ->
        Optional.of(CALLER.get()).filter(actor -> Set.of(actions).contains(action));
  }

  private static ClaimRequest inTenant(String tenant, String key) {
    return Shop.request(
        Caller.of(UUID.randomUUID()).inTenant(tenant),
        key,
        Shop.CREATE_ORDER,
        Duration.ofHours(24));
  }

  private boolean exists(UUID id) {
    return shop.operator().find(id).isPresent();
  }

  private static RecordedOperation get(AdminBlockingStub stub, Object id) {
    return stub.getOperation(GetOperationRequest.newBuilder().setOperation(id.toString()).build())
        .getOperation();
  }

  private static ListOperationsResponse list(AdminBlockingStub stub) {
    return stub.listOperations(ListOperationsRequest.getDefaultInstance());
  }

  private static FindOperationsResponse findKey(
      AdminBlockingStub stub, String key, String namespace) {
    return stub.findOperations(
        FindOperationsRequest.newBuilder().setKey(key).setNamespace(namespace).build());
  }

  private static List<String> ids(FindOperationsResponse found) {
    return found.getOperationsList().stream().map(RecordedOperation::getId).toList();
  }

  private static FreeOperationRequest.Builder free(UUID id) {
    return FreeOperationRequest.newBuilder()
        .setOperation(id.toString())
        .setReason(Shop.ACT.reason());
  }

  private static ForgetOperationRequest.Builder forget(UUID id) {
    return ForgetOperationRequest.newBuilder()
        .setOperation(id.toString())
        .setReason(Shop.ACT.reason());
  }

  private static GetContentsRequest contents(UUID id) {
    return GetContentsRequest.newBuilder()
        .setOperation(id.toString())
        .setReason(Shop.ACT.reason())
        .build();
  }

  private static List<AuditEntry> audit(AdminBlockingStub stub, UUID id) {
    return stub.listAuditEntries(
            ListAuditEntriesRequest.newBuilder().setOperation(id.toString()).build())
        .getAuditEntriesList();
  }

  private static void assertInvalid(String field, ThrowingCallable call) {
    StatusRuntimeException error =
        assertRefused(
            Status.Code.INVALID_ARGUMENT, AdminErrorReason.IDEMPOTENCY_ADMIN_REQUEST_INVALID, call);
    assertThat(detail(error, BadRequest.class).orElseThrow().getFieldViolations(0).getField())
        .isEqualTo(field);
  }

  private static StatusRuntimeException assertRefused(
      Status.Code code, AdminErrorReason reason, ThrowingCallable call) {
    StatusRuntimeException error = catchThrowableOfType(StatusRuntimeException.class, call);
    assertThat(error).as("%s is expected", reason).isNotNull();
    assertThat(error.getStatus().getCode()).isEqualTo(code);
    ErrorInfo info = detail(error, ErrorInfo.class).orElseThrow();
    assertThat(info.getReason()).isEqualTo(reason.name());
    assertThat(info.getDomain()).isEqualTo("grpc-idempotency");
    return error;
  }

  private static <T extends Message> Optional<T> detail(
      StatusRuntimeException error, Class<T> type) {
    com.google.rpc.Status status = StatusProto.fromThrowable(error);
    if (status == null) {
      return Optional.empty();
    }
    return status.getDetailsList().stream()
        .filter(any -> any.is(type))
        .map(any -> unpacked(any, type))
        .findFirst();
  }

  private static <T extends Message> T unpacked(Any any, Class<T> type) {
    try {
      return any.unpack(type);
    } catch (InvalidProtocolBufferException malformed) {
      throw new AssertionError(malformed);
    }
  }

  /** The host's authentication. This one believes everything. */
  private static final class Authentication implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      Context context = Context.current().withValue(CALLER, String.valueOf(headers.get(USER)));
      return Contexts.interceptCall(context, call, headers, next);
    }
  }
}
