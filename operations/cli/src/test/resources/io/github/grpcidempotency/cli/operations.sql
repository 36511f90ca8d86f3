INSERT INTO app.orders (id) VALUES ('019303cd-0000-7000-8000-0000000000aa');
INSERT INTO app.outbox (order_id, user_id, status)
VALUES ('019303cd-0000-7000-8000-0000000000aa', '00000000-0000-4000-8000-00000000000b', 'pending');
INSERT INTO idempotency.idempotency_keys
  (id, tenant, project, idempotency_key, user_uuid, procedure, request_hash, hash_version, response_bytes, status_bytes, attempt,
   lease_expires, created, completed, expires, outcome_unknown, order_id, server)
VALUES
  -- its server is gone
  ('019303cd-3f00-7000-8000-000000000001', 'acme', 'apollo', '3fd0a7c4-6f60-4e5a-9a5e-0a4f7a3b1c01',
   '00000000-0000-4000-8000-00000000000a', 'orders.v1.OrderService/CreateOrder', '\x00', 1, NULL, NULL, 1,
   now() - interval '12 minutes 10 seconds', now() - interval '12 minutes 40 seconds', NULL,
   now() + interval '23 hours 47 minutes 50 seconds', false, NULL, 'orders-7d9f:4711'),
  -- recorded: field 1, a text
  ('019303cd-2f00-7000-8000-000000000002', '', '', 'order-4712',
   '00000000-0000-4000-8000-00000000000b', 'orders.v1.OrderService/CreateOrder', '\x00', 1, '\x0a056f72646572', NULL, 1,
   now() - interval '3 hours 19 minutes', now() - interval '3 hours 20 minutes 30 seconds', now() - interval '3 hours 20 minutes',
   now() + interval '20 hours 39 minutes 50 seconds', false, '019303cd-0000-7000-8000-0000000000aa', 'orders-7d9f:4711'),
  -- a recorded error: NOT_FOUND "no such article"
  ('019303cd-1f00-7000-8000-000000000003', 'acme', '', '5f3e0a4f-7a3b-4c01-9a5e-3fd0a7c46f60',
   '00000000-0000-4000-8000-00000000000a', 'orders.v1.OrderService/CreateOrder', '\x00', 1, NULL, '\x0805120f6e6f20737563682061727469636c65', 2,
   NULL, now() - interval '5 hours 2 minutes', now() - interval '5 hours 1 minutes',
   now() + interval '40 minutes 50 seconds', false, NULL, NULL),
  -- its handler runs
  ('019303cd-4f00-7000-8000-000000000004', '', '', '8a3b1c01-6f60-4e5a-9a5e-0a4f3fd0a7c4',
   '00000000-0000-4000-8000-00000000000b', 'orders.v1.OrderService/CancelOrder', '\x00', 1, NULL, NULL, 1,
   now() + interval '10 minutes 50 seconds', now() - interval '2 minutes 5 seconds', NULL,
   now() + interval '23 hours 57 minutes 50 seconds', false, NULL, 'orders-8c2a:4711'),
  -- nobody knows how it ended
  ('019303cd-3e00-7000-8000-000000000005', '', '', '9b3b1c01-6f60-4e5a-9a5e-0a4f3fd0a7c5',
   '00000000-0000-4000-8000-00000000000b', 'orders.v1.OrderService/CreateOrder', '\x00', 1, NULL, NULL, 1,
   now() + interval '8 minutes 50 seconds', now() - interval '14 minutes 5 seconds', NULL,
   now() + interval '23 hours 45 minutes 50 seconds', true, NULL, 'orders-8c2a:4711'),
  -- waits for the sweep; its answer is encrypted
  ('019303cc-0f00-7000-8000-000000000006', '', '', 'ac3b1c01-6f60-4e5a-9a5e-0a4f3fd0a7c6',
   '00000000-0000-4000-8000-00000000000b', 'orders.v1.OrderService/CreateOrder', '\x00', 1, '\x0133441122aabbccddeeff', NULL, 1,
   NULL, now() - interval '1 day 5 minutes 5 seconds', now() - interval '1 day 5 minutes 4 seconds',
   now() - interval '5 minutes 5 seconds', false, NULL, NULL);
