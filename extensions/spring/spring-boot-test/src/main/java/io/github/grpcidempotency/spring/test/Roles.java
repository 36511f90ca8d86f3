package io.github.grpcidempotency.spring.test;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.core.env.PropertyResolver;
import org.springframework.util.StringUtils;

/** The roles of a database: one owns it and runs migrations, the other one serves calls. */
record Roles(String owner, String application) {
  private static final String APPLICATION = "spring.datasource.username";
  private static final List<String> OWNER =
      List.of("grpc.idempotency.migration.username", "spring.flyway.user");

  /** Returns the roles that the annotation names, or else those of the application's properties. */
  static Roles of(String owner, String application, PropertyResolver properties) {
    Roles roles =
        new Roles(
            StringUtils.hasText(owner) ? owner : owner(properties),
            StringUtils.hasText(application) ? application : application(properties));
    if (roles.owner.equals(roles.application)) {
      throw new IllegalStateException(
          ("@IdempotencyDatabase needs two different roles, but %s is both the owner and the"
                  + " application's role: row-level security does not apply to the owner of a table")
              .formatted(roles.owner));
    }
    return roles;
  }

  private static String application(PropertyResolver properties) {
    return named(properties, Stream.of(APPLICATION))
        .orElseThrow(() -> unnamed("serves calls", APPLICATION, "application"));
  }

  private static String owner(PropertyResolver properties) {
    return named(properties, OWNER.stream())
        .orElseThrow(() -> unnamed("runs migrations", String.join(" or ", OWNER), "owner"));
  }

  private static Optional<String> named(PropertyResolver properties, Stream<String> keys) {
    List<String> names =
        keys.flatMap(key -> Optional.ofNullable(properties.getProperty(key)).stream())
            .filter(StringUtils::hasText)
            .distinct()
            .collect(Collectors.toList());
    if (names.size() > 1) {
      throw new IllegalStateException(
          ("@IdempotencyDatabase needs one owner of the database, but the properties name two,"
                  + " %s: choose one with @IdempotencyDatabase(owner = …)")
              .formatted(String.join(" and ", names)));
    }
    return names.stream().findFirst();
  }

  private static IllegalStateException unnamed(String what, String properties, String attribute) {
    return new IllegalStateException(
        ("@IdempotencyDatabase cannot find the role that %s: set %s, or"
                + " @IdempotencyDatabase(%s = …)")
            .formatted(what, properties, attribute));
  }
}
