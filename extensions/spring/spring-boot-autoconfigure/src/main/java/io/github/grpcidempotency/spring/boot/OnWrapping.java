package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.procedure.ClaimTiming;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches if the data source of the records has to be wrapped. */
final class OnWrapping extends SpringBootCondition {
  private static final String WRAP = IdempotencyProperties.PREFIX + ".wrap-data-source";
  private static final String TIMING = IdempotencyProperties.PREFIX + ".claim-timing";

  @Override
  public ConditionOutcome getMatchOutcome(
      ConditionContext context, AnnotatedTypeMetadata metadata) {
    Binder binder = Binder.get(context.getEnvironment());
    boolean wrap =
        binder
            .bind(WRAP, Boolean.class)
            .orElseGet(
                () ->
                    binder
                        .bind(TIMING, ClaimTiming.class)
                        .map(ClaimTiming.WITH_FIRST_STATEMENT::equals)
                        .orElse(false));
    return new ConditionOutcome(
        wrap, ConditionMessage.forCondition(WRAP).because(wrap ? "configured" : "not configured"));
  }
}
