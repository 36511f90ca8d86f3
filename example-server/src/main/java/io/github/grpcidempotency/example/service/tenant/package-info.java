/**
 * The resources, table by table. All code here runs in a transaction of one caller, which sees only
 * this caller's rows. A create writes its outbox row together with its resource.
 */
@NullMarked
package io.github.grpcidempotency.example.service.tenant;

import org.jspecify.annotations.NullMarked;
