package io.github.grpcidempotency.spring.boot;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/** Matches if the migration is switched on. Setting its user name switches it on. */
final class OnMigration extends SpringBootCondition {
  private static final String MIGRATION = IdempotencyProperties.PREFIX + ".migration.";

  @Override
  public ConditionOutcome getMatchOutcome(
      ConditionContext context, AnnotatedTypeMetadata metadata) {
    Environment environment = context.getEnvironment();
    boolean named = StringUtils.hasText(environment.getProperty(MIGRATION + "username"));
    boolean on = environment.getProperty(MIGRATION + "enabled", Boolean.class, named);
    return new ConditionOutcome(
        on,
        ConditionMessage.of(
            "%senabled is %s".formatted(MIGRATION, on ? "true, or implied" : "not true")));
  }
}
