package io.github.grpcidempotency.redis;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Marks tests that start servers; they are skipped where none can run. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ExtendWith(NeedsRedis.Condition.class)
public @interface NeedsRedis {
  /** Evaluated before a test's class is, whose static fields are servers. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return RedisBinary.isThere()
          ? ConditionEvaluationResult.enabled("there is a server")
          : ConditionEvaluationResult.disabled(
              "the Redis in the jar of embedded-redis does not run here (it needs libssl3), and"
                  + " neither redis-server nor valkey-server is installed");
    }
  }
}
