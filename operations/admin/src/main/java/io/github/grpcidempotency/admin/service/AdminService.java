package io.github.grpcidempotency.admin.service;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.admin.Act;
import io.github.grpcidempotency.admin.ActResult;
import io.github.grpcidempotency.admin.AdminAction;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.AuditEntry;
import io.github.grpcidempotency.admin.OperationPage;
import io.github.grpcidempotency.admin.OperationRecord;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.proto.v1.AdminGrpc;
import io.github.grpcidempotency.proto.v1.FindOperationsRequest;
import io.github.grpcidempotency.proto.v1.FindOperationsResponse;
import io.github.grpcidempotency.proto.v1.ForgetOperationRequest;
import io.github.grpcidempotency.proto.v1.ForgetOperationResponse;
import io.github.grpcidempotency.proto.v1.FreeOperationRequest;
import io.github.grpcidempotency.proto.v1.FreeOperationResponse;
import io.github.grpcidempotency.proto.v1.GetContentsRequest;
import io.github.grpcidempotency.proto.v1.GetContentsResponse;
import io.github.grpcidempotency.proto.v1.GetOperationRequest;
import io.github.grpcidempotency.proto.v1.GetOperationResponse;
import io.github.grpcidempotency.proto.v1.GetStatisticsRequest;
import io.github.grpcidempotency.proto.v1.GetStatisticsResponse;
import io.github.grpcidempotency.proto.v1.ListAuditEntriesRequest;
import io.github.grpcidempotency.proto.v1.ListAuditEntriesResponse;
import io.github.grpcidempotency.proto.v1.ListOperationsRequest;
import io.github.grpcidempotency.proto.v1.ListOperationsResponse;
import io.github.grpcidempotency.proto.v1.RecordedOperation;
import io.github.grpcidempotency.proto.v1.SweepOperationsRequest;
import io.github.grpcidempotency.proto.v1.SweepOperationsResponse;
import io.grpc.BindableService;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The service {@code idempotency.v1.Admin}: finds, frees and forgets the records of all users. A
 * server has this service only if its host adds it. The service calls the host's {@link Authorizer}
 * before every action. The authorizer also returns the actor; a request cannot set the actor.
 *
 * <p>It blocks on the database, on the server's executor, as handlers do. The host's authentication
 * must run in front of it:
 *
 * <pre>{@code
 * server.addService(ServerInterceptors.intercept(AdminService.of(administration, authorizer), authentication));
 * }</pre>
 */
public final class AdminService {
  private AdminService() {}

  /**
   * Returns the service.
   *
   * @param administration an administration as a role with the rights of an operator
   * @param authorizer is called before every action
   */
  public static BindableService of(Administration administration, Authorizer authorizer) {
    return new Service(administration, authorizer);
  }

  private static final class Service extends AdminGrpc.AdminImplBase {
    private static final Logger logger = LoggerFactory.getLogger(AdminService.class);
    private static final int MAX_TEXT = 1_000;

    private final Administration administration;
    private final Authorizer authorizer;

    Service(Administration administration, Authorizer authorizer) {
      this.administration = administration;
      this.authorizer = authorizer;
    }

    @Override
    public void getOperation(
        GetOperationRequest request, StreamObserver<GetOperationResponse> observer) {
      answer(
          observer,
          () -> {
            OperationRecord operation = permitted(AdminAction.VIEW, request.getOperation()).record;
            RecordedOperation.Builder message = AdminMessages.withoutKey(operation);
            if (actor(AdminAction.VIEW_KEY, tenant(operation.namespace())).isPresent()) {
              message.setKey(operation.key());
            }
            return GetOperationResponse.newBuilder().setOperation(message).build();
          });
    }

    @Override
    public void findOperations(
        FindOperationsRequest request, StreamObserver<FindOperationsResponse> observer) {
      answer(
          observer,
          () -> {
            permit(AdminAction.VIEW, tenant(request.getNamespace()));
            if (request.getKey().isEmpty()) {
              throw AdminError.invalid("key", "is empty");
            }
            Optional<UUID> user = given("user_id", request.getUserId());
            FindOperationsResponse.Builder found = FindOperationsResponse.newBuilder();
            spellings(request.getKey())
                .flatMap(key -> administration.findKey(key, request.getNamespace()).stream())
                .filter(operation -> user.isEmpty() || operation.userId().equals(user.get()))
                .forEach(operation -> found.addOperations(AdminMessages.withoutKey(operation)));
            user.ifPresent(id -> found.setRunning(isRunning(request, id)));
            return found.build();
          });
    }

    @Override
    public void listOperations(
        ListOperationsRequest request, StreamObserver<ListOperationsResponse> observer) {
      answer(
          observer,
          () -> {
            permit(AdminAction.VIEW, tenant(request.getNamespace()));
            OperationPage found = administration.list(Paging.query(request));
            ListOperationsResponse.Builder page = ListOperationsResponse.newBuilder();
            found.operations().stream().map(AdminMessages::withoutKey).forEach(page::addOperations);
            found.next().map(end -> Paging.token(request, end)).ifPresent(page::setNextPageToken);
            return page.build();
          });
    }

    @Override
    public void freeOperation(
        FreeOperationRequest request, StreamObserver<FreeOperationResponse> observer) {
      answer(
          observer,
          () -> {
            Permitted permitted = permitted(AdminAction.FREE, request.getOperation());
            Act act = act(permitted.actor, request.getReason());
            check(
                administration.free(
                    permitted.record.id(),
                    act,
                    request.getEvenIfLive(),
                    request.getValidateOnly()));
            return FreeOperationResponse.newBuilder()
                .setOperation(AdminMessages.withoutKey(permitted.record))
                .build();
          });
    }

    @Override
    public void forgetOperation(
        ForgetOperationRequest request, StreamObserver<ForgetOperationResponse> observer) {
      answer(
          observer,
          () -> {
            Permitted permitted = permitted(AdminAction.FORGET, request.getOperation());
            Act act = act(permitted.actor, request.getReason());
            check(administration.forget(permitted.record.id(), act, request.getValidateOnly()));
            return ForgetOperationResponse.newBuilder()
                .setOperation(AdminMessages.withoutKey(permitted.record))
                .build();
          });
    }

    @Override
    public void getContents(
        GetContentsRequest request, StreamObserver<GetContentsResponse> observer) {
      answer(
          observer,
          () -> {
            Permitted permitted = permitted(AdminAction.READ_CONTENTS, request.getOperation());
            Act act = act(permitted.actor, request.getReason());
            GetContentsResponse.Builder message = GetContentsResponse.newBuilder();
            administration
                .contents(permitted.record.id(), act)
                .ifPresent(
                    contents -> {
                      contents.response().map(ByteString::copyFrom).ifPresent(message::setResponse);
                      contents.failure().map(ByteString::copyFrom).ifPresent(message::setError);
                    });
            return message.build();
          });
    }

    @Override
    public void sweepOperations(
        SweepOperationsRequest request, StreamObserver<SweepOperationsResponse> observer) {
      answer(
          observer,
          () -> {
            String actor = permit(AdminAction.SWEEP, Optional.empty());
            long deleted = administration.sweep(act(actor, request.getReason()));
            return SweepOperationsResponse.newBuilder().setDeleted(deleted).build();
          });
    }

    @Override
    public void getStatistics(
        GetStatisticsRequest request, StreamObserver<GetStatisticsResponse> observer) {
      answer(
          observer,
          () -> {
            permit(AdminAction.VIEW, Optional.empty());
            return AdminMessages.statistics(administration.statistics());
          });
    }

    @Override
    public void listAuditEntries(
        ListAuditEntriesRequest request, StreamObserver<ListAuditEntriesResponse> observer) {
      answer(
          observer,
          () -> {
            Optional<UUID> operation = given("operation", request.getOperation());
            permit(
                AdminAction.AUDIT,
                operation
                    .flatMap(administration::find)
                    .flatMap(found -> tenant(found.namespace())));
            ListAuditEntriesResponse.Builder page = ListAuditEntriesResponse.newBuilder();
            int size = Paging.size(request.getPageSize());
            List<AuditEntry> found = administration.audit(operation, Paging.before(request), size);
            found.forEach(entry -> page.addAuditEntries(AdminMessages.auditEntry(entry)));
            if (found.size() == size) {
              page.setNextPageToken(Paging.token(request, found.get(size - 1).id()));
            }
            return page.build();
          });
    }

    private boolean isRunning(FindOperationsRequest request, UUID user) {
      return spellings(request.getKey())
          .anyMatch(key -> administration.isRunning(key, request.getNamespace(), user));
    }

    /**
     * Returns the spellings of a key under which it may be stored. A UUID is stored in lower case.
     */
    private static Stream<String> spellings(String key) {
      return Stream.of(key, key.toLowerCase(Locale.ROOT))
          .filter(
              spelling -> spelling.equals(key) || KeyFormat.uuid().canonicalize(key).isPresent())
          .distinct();
    }

    private static Optional<UUID> given(String field, String id) {
      return id.isEmpty() ? Optional.empty() : Optional.of(Paging.uuid(field, id));
    }

    /** An operation, and the actor who may act on it. */
    private record Permitted(OperationRecord record, String actor) {}

    /**
     * Finds an operation for an actor who may perform an action. An actor with rights in one tenant
     * only does not learn whether an operation of another tenant exists.
     */
    private Permitted permitted(AdminAction action, String operation) {
      Optional<OperationRecord> found = administration.find(Paging.uuid("operation", operation));
      String actor = permit(action, found.flatMap(record -> tenant(record.namespace())));
      return found
          .map(record -> new Permitted(record, actor))
          .orElseThrow(() -> AdminError.of(AdminErrorReason.IDEMPOTENCY_OPERATION_UNKNOWN));
    }

    private String permit(AdminAction action, Optional<String> tenant) {
      return actor(action, tenant)
          .orElseThrow(() -> AdminError.of(AdminErrorReason.IDEMPOTENCY_ADMIN_DENIED));
    }

    private Optional<String> actor(AdminAction action, Optional<String> tenant) {
      try {
        return authorizer
            .authorize(action, tenant)
            .filter(actor -> !actor.isBlank() && actor.length() <= MAX_TEXT);
      } catch (RuntimeException failure) {
        logger.warn("the authorizer has failed, so the action {} was refused", action, failure);
        return Optional.empty();
      }
    }

    /** Returns the tenant in a namespace: {@code acme} in {@code acme/apollo}. */
    private static Optional<String> tenant(String namespace) {
      int slash = namespace.indexOf('/');
      String tenant = slash < 0 ? namespace : namespace.substring(0, slash);
      return Optional.of(tenant).filter(name -> !name.isEmpty() && !name.equals("-"));
    }

    private static Act act(String actor, String reason) {
      if (reason.isBlank() || reason.length() > MAX_TEXT) {
        throw AdminError.invalid("reason", "is blank, or longer than 1,000 characters");
      }
      return new Act(actor, reason);
    }

    private static void check(ActResult result) {
      switch (result) {
        case DONE, WOULD_BE_DONE -> {}
        case NOT_FOUND -> throw AdminError.of(AdminErrorReason.IDEMPOTENCY_OPERATION_UNKNOWN);
        case OWNER_LIVES -> throw AdminError.of(AdminErrorReason.IDEMPOTENCY_OWNER_LIVES);
        case ALREADY_RECORDED ->
            throw AdminError.of(AdminErrorReason.IDEMPOTENCY_OPERATION_RECORDED);
        case NOT_RECORDED -> throw AdminError.of(AdminErrorReason.IDEMPOTENCY_OPERATION_UNFINISHED);
        case LOCKED -> throw AdminError.of(AdminErrorReason.IDEMPOTENCY_OPERATION_LOCKED);
      }
    }

    private static <T> void answer(StreamObserver<T> observer, Supplier<T> work) {
      T response;
      try {
        response = work.get();
      } catch (RuntimeException failure) {
        observer.onError(AdminError.of(failure));
        return;
      }
      observer.onNext(response);
      observer.onCompleted();
    }
  }
}
