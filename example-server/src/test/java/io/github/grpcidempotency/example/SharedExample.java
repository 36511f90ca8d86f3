package io.github.grpcidempotency.example;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Hands out one running example to every test class of a JVM that asks for a {@link
 * RunningExample}: starting one takes seconds, and each test uses users of its own. It is closed
 * after the last class.
 */
final class SharedExample implements ParameterResolver {
  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == RunningExample.class;
  }

  @Override
  public RunningExample resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getRoot()
        .getStore(ExtensionContext.Namespace.create(SharedExample.class))
        .computeIfAbsent(
            RunningExample.class, type -> RunningExample.start(), RunningExample.class);
  }
}
