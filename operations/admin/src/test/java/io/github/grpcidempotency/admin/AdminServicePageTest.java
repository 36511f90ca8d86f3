package io.github.grpcidempotency.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.admin.service.AdminErrorReason;
import io.github.grpcidempotency.admin.service.AdminService;
import io.github.grpcidempotency.admin.service.Authorizer;
import io.github.grpcidempotency.proto.v1.AdminGrpc;
import io.github.grpcidempotency.proto.v1.AdminGrpc.AdminBlockingStub;
import io.github.grpcidempotency.proto.v1.ListOperationsRequest;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import io.github.grpcidempotency.testing.GrpcCleanupExtension;
import io.grpc.BindableService;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The code on the page "admin service" is cut from here, and runs. */
class AdminServicePageTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/how-to/operators.md");
  private static final Path SOURCE =
      Path.of("src/test/java/io/github/grpcidempotency/admin/AdminServicePageTest.java");
  private static final Context.Key<Person> PERSON = Context.key("person");

  @RegisterExtension static final Shop shop = Shop.open();
  @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension();

  /** Somebody as the host knows them. */
  private record Person(String name, AdminAction allowed) {
    boolean may(AdminAction action, Optional<String> tenant) {
      return action == allowed && tenant.isEmpty();
    }
  }

  @Test
  void everySnippetOfThePageIsCutFromHere() throws IOException {
    List<String> snippets =
        Snippets.of(PAGE).stream().filter(snippet -> snippet.contains("Authorizer")).toList();

    assertThat(snippets).isNotEmpty();
    assertThat(snippets).allMatch(snippet -> Snippets.isCutFrom(snippet, SOURCE));
  }

  @Test
  void thePageNamesEveryActionAndEveryReason() throws IOException {
    assertThat(Files.readString(PAGE))
        .contains(Arrays.stream(AdminAction.values()).map(each -> "`" + each + "`").toList())
        .contains(Arrays.stream(AdminErrorReason.values()).map(each -> "`" + each + "`").toList());
  }

  @Test
  void theServiceIsAddedAsShown() throws IOException {
    assertThat(list(new Person("ann", AdminAction.VIEW))).isZero();
    assertThatThrownBy(() -> list(new Person("bob", AdminAction.AUDIT)))
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessageContaining("PERMISSION_DENIED");
  }

  private int list(Person caller) throws IOException {
    ServerInterceptor authentication = new Authentication(caller);
    DataSource operatorPool = shop.as(Shop.OPERATOR);
    ServerBuilder<?> server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create());

    Authorizer authorizer =
        (action, tenant) ->
            Optional.ofNullable(PERSON.get()) // as your authentication has left it
                .filter(person -> person.may(action, tenant))
                .map(Person::name);
    BindableService admin = AdminService.of(Administration.on(operatorPool), authorizer);
    server.addService(ServerInterceptors.intercept(admin, authentication));

    Server started = grpc.register(server.build().start());
    AdminBlockingStub stub =
        AdminGrpc.newBlockingStub(
            grpc.register(
                Grpc.newChannelBuilder(
                        "localhost:" + started.getPort(), InsecureChannelCredentials.create())
                    .build()));
    return stub.listOperations(ListOperationsRequest.getDefaultInstance()).getOperationsCount();
  }

  /** The host's authentication. */
  private record Authentication(Person caller) implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      return Contexts.interceptCall(
          Context.current().withValue(PERSON, caller), call, headers, next);
    }
  }
}
