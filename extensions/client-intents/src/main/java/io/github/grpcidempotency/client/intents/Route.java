package io.github.grpcidempotency.client.intents;

import io.grpc.MethodDescriptor;

/**
 * The server and the method of an intent.
 *
 * @param target the user's name for the server
 * @param method the full name of the method
 */
record Route(String target, String method) {
  static Route of(String target, MethodDescriptor<?, ?> method) {
    return new Route(target, method.getFullMethodName());
  }
}
