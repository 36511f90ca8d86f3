package io.github.grpcidempotency.test;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** On a machine without one of the programs, the test is skipped before any of its set-up runs. */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(NeedsProgram.Condition.class)
public @interface NeedsProgram {
  /** All of them are needed. */
  Program[] value();

  /** Skips the test, with a message that names the Debian packages of the absent programs. */
  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      String absent =
          context.getElement().map(test -> test.getAnnotation(NeedsProgram.class)).stream()
              .flatMap(needs -> Stream.of(needs.value()))
              .filter(program -> !program.isInstalled())
              .map(Program::absence)
              .collect(Collectors.joining("; "));
      return absent.isEmpty()
          ? ConditionEvaluationResult.enabled("every program is installed")
          : ConditionEvaluationResult.disabled(absent);
    }
  }
}
