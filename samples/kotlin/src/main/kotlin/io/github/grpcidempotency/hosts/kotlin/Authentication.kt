package io.github.grpcidempotency.hosts.kotlin

import io.grpc.Context
import io.grpc.Contexts
import io.grpc.Metadata
import io.grpc.ServerCall
import io.grpc.ServerCallHandler
import io.grpc.ServerInterceptor

/** Stands for authentication and accepts everybody: yours verifies a token. */
object Authentication : ServerInterceptor {
    val SUBJECT_HEADER: Metadata.Key<String> =
        Metadata.Key.of("subject", Metadata.ASCII_STRING_MARSHALLER)
    val SUBJECT: Context.Key<String> = Context.key("subject")

    override fun <Q, A> interceptCall(
        call: ServerCall<Q, A>,
        headers: Metadata,
        next: ServerCallHandler<Q, A>,
    ): ServerCall.Listener<Q> {
        val context = Context.current().withValue(SUBJECT, headers[SUBJECT_HEADER])
        return Contexts.interceptCall(context, call, headers, next)
    }
}
