package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The same key never crosses user, tenant or project. */
class NamespaceTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private final KeyTable table = new KeyTable(database);

  /** Two users, each in {none, A, B} × {none, P, Q}: eighteen scopes, one key, one body. */
  @ParameterizedTest
  @EnumSource
  void everyScopeHasItsOwnOperationUnderTheSameKey(Execution execution) {
    try (ThingServer server = PostgresThingServer.on(database.app()).execution(execution).start();
        ThingClient alice = ThingClient.to(server.port())) {
      ThingClient bob = alice.as(UUID.randomUUID());
      Map<ThingClient, Reply> first = new LinkedHashMap<>();

      for (ThingClient scope : matrix(alice, bob)) {
        first.put(scope, scope.createThing(REQUEST));
      }

      assertThat(first).hasSize(18);
      assertThat(first.values())
          .allSatisfy(
              reply -> {
                assertThat(reply.isOk()).as(reply.toString()).isTrue();
                assertThat(reply.isReplay()).isFalse();
              });
      assertThat(first.values()).extracting(Reply::thingId).doesNotHaveDuplicates();
      assertThat(first.values()).extracting(Reply::operation).doesNotHaveDuplicates();
      first.forEach(
          (scope, reply) -> {
            Reply again = scope.createThing(REQUEST);
            assertThat(again.isReplay()).isTrue();
            assertThat(again.bytes()).isEqualTo(reply.bytes());
            assertThat(again.operation()).isEqualTo(reply.operation());
          });
      assertThat(server.runs()).isEqualTo(18);
      assertThat(table.rowsOf(alice.user())).hasSize(9);
      assertThat(table.rowsOf(bob.user())).hasSize(9);
    }
  }

  /** A key that is derived from the content belongs to one user, too. */
  @Test
  void everyScopeHasItsOwnOperationForTheSameContent() {
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(thing -> thing.keyFrom(KeySource.content("name")))
                .start();
        ThingClient alice = ThingClient.to(server.port()).withoutKey()) {
      List<ThingClient> scopes = matrix(alice, alice.as(UUID.randomUUID()));

      scopes.forEach(scope -> assertThat(scope.createThing(REQUEST).isReplay()).isFalse());
      scopes.forEach(scope -> assertThat(scope.createThing(REQUEST).isReplay()).isTrue());
      assertThat(server.runs()).isEqualTo(18);
    }
  }

  /** The word for "above all of them", and what separates names and keys, name nothing. */
  @ParameterizedTest
  @ValueSource(strings = {"-", "-/p", "a/-", "a:b", "a/p:q", "a/p/q", ".", "~a", "-a", "ä", "a b"})
  void aNameThatWouldReadLikeAnotherScopeIsNoName(String namespace) {
    try (ThingServer server = PostgresThingServer.on(database.app()).start();
        ThingClient client = ThingClient.to(server.port())) {
      ThingClient forger = client.in(namespace);

      assertThat(forger.createThing(REQUEST).isOk()).isFalse();

      assertThat(server.runs()).isZero();
      assertThat(table.rowsOf(client.user())).isEmpty();
    }
  }

  /** A service's own format may allow keys that look like those of another scope. */
  @Test
  void aKeyThatReadsLikeAnotherScopesIsAKeyOfItsOwnScope() {
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(thing -> thing.keyFormat(KeyFormat.matching(Pattern.compile(".*"))))
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      Map<String, List<String>> keysByScope =
          Map.of(
              "", List.of("k", ":k", "a/-:k", "-/p:k", "a/p:k", ":a/-:k"),
              "a", List.of("k", ":k", "p:k", "-:k"),
              "/p", List.of("k", ":k"),
              "a/p", List.of("k", "a/p:k"));
      List<Reply> replies = new ArrayList<>();

      keysByScope.forEach(
          (scope, keys) ->
              keys.forEach(key -> replies.add(client.in(scope).withKey(key).createThing(REQUEST))));

      assertThat(replies).allSatisfy(reply -> assertThat(reply.isOk()).isTrue());
      assertThat(replies).noneMatch(Reply::isReplay);
      assertThat(server.runs()).isEqualTo(14);
      assertThat(table.rowsOf(client.user())).hasSize(14);
    }
  }

  private static List<ThingClient> matrix(ThingClient... users) {
    List<ThingClient> scopes = new ArrayList<>();
    for (ThingClient user : users) {
      for (String tenant : List.of("", "A", "B")) {
        for (String project : List.of("", "P", "Q")) {
          scopes.add(user.in(tenant + "/" + project));
        }
      }
    }
    return scopes;
  }
}
