package io.github.grpcidempotency.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.key.Caller;
import io.grpc.Context;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.grpc.server.security.GrpcSecurity;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;

class SecurityCallersTest {
  @Test
  void aNameIsASubject() {
    assertThat(callerNamed("alice")).contains(Caller.ofSubject("alice"));
  }

  @Test
  void aNameThatIsAUuidIsTheUsersId() {
    UUID id = UUID.randomUUID();

    assertThat(callerNamed(id.toString())).contains(Caller.of(id));
  }

  @Test
  void anotherSpellingOfAUuidIsAnotherCaller() {
    String id = "6a6c3f40-52a5-4f4e-9a83-0f6a3ff4a6a1";

    assertThat(callerNamed(id.toUpperCase(Locale.ROOT)))
        .contains(Caller.ofSubject("6A6C3F40-52A5-4F4E-9A83-0F6A3FF4A6A1"));
    assertThat(callerNamed("1-1-1-1-1")).contains(Caller.ofSubject("1-1-1-1-1"));
  }

  @Test
  void aNameThatIsTheHashOfAnotherNameIsAnotherUser() {
    Caller alice = Caller.ofSubject("alice");

    assertThat(callerNamed(alice.userId().toString())).isPresent().get().isNotEqualTo(alice);
  }

  @Test
  void anUnauthenticatedCallHasNoCaller() {
    Authentication unproved = UsernamePasswordAuthenticationToken.unauthenticated("alice", "?");
    Authentication anonymous =
        new AnonymousAuthenticationToken(
            "key", "anonymous", AuthorityUtils.createAuthorityList("ROLE_ANONYMOUS"));

    assertThat(caller(unproved)).isEmpty();
    assertThat(caller(anonymous)).isEmpty();
    assertThat(new SecurityCallers().resolve()).isEmpty();
  }

  @Test
  void theAuthenticationOfAnEarlierCallOnTheThreadIsIgnored() {
    SecurityContextHolder.setContext(new SecurityContextImpl(named("alice")));
    try {
      assertThat(new SecurityCallers().resolve()).isEmpty();
    } finally {
      SecurityContextHolder.clearContext();
    }
  }

  @Test
  void aScopeLeavesTheThreadAsItWas() throws Exception {
    SecurityScope scope = new SecurityScope();
    Context alice =
        Context.current()
            .withValue(GrpcSecurity.SECURITY_CONTEXT_KEY, new SecurityContextImpl(named("alice")));

    alice
        .call(scope::capture)
        .run(
            () ->
                assertThat(SecurityContextHolder.getContext().getAuthentication())
                    .isNotNull()
                    .extracting(Authentication::getName)
                    .isEqualTo("alice"));

    assertThat(SecurityContextHolder.getContext().getAuthentication()).isNull();
  }

  private static Optional<Caller> callerNamed(String name) {
    return caller(named(name));
  }

  private static Authentication named(String name) {
    return UsernamePasswordAuthenticationToken.authenticated(
        name, "", AuthorityUtils.NO_AUTHORITIES);
  }

  private static Optional<Caller> caller(Authentication authentication) {
    try {
      return Context.current()
          .withValue(GrpcSecurity.SECURITY_CONTEXT_KEY, new SecurityContextImpl(authentication))
          .call(new SecurityCallers()::resolve);
    } catch (Exception impossible) {
      throw new AssertionError(impossible);
    }
  }
}
