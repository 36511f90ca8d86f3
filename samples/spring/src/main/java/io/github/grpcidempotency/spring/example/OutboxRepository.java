package io.github.grpcidempotency.spring.example;

import org.springframework.data.jpa.repository.JpaRepository;

interface OutboxRepository extends JpaRepository<OutboxEntry, Long> {}
