-- Schema work: tables shared by all roles. Answered requests, callbacks on their way, requests that wait for a callback.
-- (The migrator makes work.migration itself: src/storage/migrate.ts.)
--
-- Due work. In every schema, a table of due work has these columns (src/storage/work/leases.ts):
--   due_at        when the row is worked on next; null: nothing to do
--   lease_token   the lease of the process that works on the row; null: no process does
--   leased_until  when that lease ends; another process may claim the row then
--   attempts      how often the row was claimed since this was last set to 0
-- and an index on due_at, led by the columns that claims select and group by. The index on leased_until finds leases that a clock jump has made too
-- long (src/storage/work/pull-forward.ts).
--
-- message_id, in every schema: messageId of the context of the message. A callback has that of its request.

create schema if not exists work;

-- Accepted requests, with their answers. A repeated request gets the same answer, and its work is not repeated.
create table work.request (
  id bigint generated always as identity primary key,
  key bytea not null unique,       -- SHA-256 of what identifies a repeat (src/protocol/remembered.ts): a url may be longer than an index entry
  role text not null,              -- the role that received it
  identity text not null,          -- who signed it
  method text not null,            -- HTTP method
  url text not null,               -- path, with the relevant part of the query
  message_id text not null,        -- of the context; of a request without body: its signature
  digest text not null,            -- of the raw body: a different body under the same key is refused
  status integer not null,         -- HTTP status of the answer
  body text not null,              -- the answer
  expires timestamptz not null,    -- when the last signature of this request expires
  open boolean not null            -- its work is not done: it is kept even after its signature has expired
);
create index request_forgettable on work.request (expires) where not open;
-- A signature of a request without body covers neither method nor url, so message_id finds its other uses.
create index request_without_body on work.request (message_id) where method <> 'POST';

-- Callbacks: promised with an ACK, and sent with the same bytes until delivered. Due work.
-- States: refused, the receiver would refuse the same bytes again; parked, not delivered until give_up_at; skipped, given up by an operator.
create table work.callback (
  id bigint generated always as identity primary key,
  role text not null,               -- the role that sends it
  action text not null,             -- catalog/on_publish, catalog/on_pull or on_discover
  message_id text not null,
  recipient text not null default '', -- identity of the receiver
  destination text not null,        -- URL
  receiver text not null,           -- origin of the destination: one slow receiver must not take the slots of all others
  body bytea not null,              -- empty once it is delivered or skipped
  request_signature text not null,  -- signature of the request that this answers: the signature of the callback covers it
  request_id bigint references work.request on delete set null,
  traceparent text,                 -- W3C trace context; null: not traced
  truncated integer,                -- resources in a truncated on_discover, for a header; null: it is complete, or its request used paging
  created_at timestamptz not null default now(),
  give_up_at timestamptz not null,  -- if it is not delivered by then, it is parked
  state text not null default 'open' check (state in ('open', 'delivered', 'refused', 'parked', 'skipped')),
  form text,                        -- form of the body that was sent last: full or strict; null: nothing was sent
  parts jsonb,                      -- its progress in parts, if the receiver accepts it only in parts (src/rules/strict-parts.ts)
  last_status integer,              -- HTTP status of the last attempt
  last_error text,                  -- its error
  history jsonb,                    -- its last requests with their answers (src/storage/work/history.ts); null: it has not failed
  settled_at timestamptz,           -- when it left the state open
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
-- A callback is sent right after it is stored, and its body is emptied then: compression would take longer than storing it.
alter table work.callback alter column body set storage external;
create index callback_due on work.callback (role, due_at) where due_at is not null;
create index callback_due_by_receiver on work.callback (role, receiver, due_at) where due_at is not null;
create index callback_in_work on work.callback (leased_until) where leased_until is not null;
create index callback_of_request on work.callback (request_id) where request_id is not null;
create index callback_by_state on work.callback (state, id);
create index callback_parked on work.callback (id) where state in ('refused', 'parked');
create index callback_parked_by_receiver on work.callback (receiver, id) where state in ('refused', 'parked');

-- The forms that a receiver accepts instead of the usual one (src/delivery/receiver-forms.ts), so that every new process knows them.
create table work.receiver_form (
  receiver text not null,       -- identity
  form text not null check (form in ('plain', 'strict')), -- plain: callbacks with a three-line signature; strict: messages in strict form
  until timestamptz not null,   -- after this, the usual form is tried first again
  primary key (receiver, form)
);
create index receiver_form_until on work.receiver_form (until);

-- Sent requests without a callback yet: any process may accept it, also after a restart.
create table work.sent_request (
  role text not null,           -- the role that sent it
  message_id text not null,
  action text not null,         -- as in context.action
  digest text not null,         -- of the raw body: a callback repeats it
  signatures text[] not null,   -- how a callback may name the request: for each attempt, the text of the signature and the Authorization header
  expires timestamptz not null, -- its callback is accepted until this time
  primary key (role, message_id)
);
create index sent_request_forgettable on work.sent_request (expires);

-- Accepted callbacks: a repeated callback has no effect. They are deleted with the request that they answer.
create table work.taken_callback (
  role text not null,
  message_id text not null,
  signer text not null,         -- identity
  action text not null,         -- of the callback
  digest text not null,         -- of the raw body
  primary key (role, message_id, signer, action, digest),
  foreign key (role, message_id) references work.sent_request on delete cascade
);

-- Signing keys of running roles that the registry lacks. Each process writes its own key whenever it checks the registry, and deletes the row once
-- the key is registered. A row that was not written for two minutes belongs to a process that has ended.
create table work.unregistered_key (
  role text not null,
  subscriber_id text not null,  -- of the role
  record_id text not null,      -- name of the key
  public_key text not null,     -- Ed25519, in Base64
  problem text not null,        -- a sentence for the operator
  since timestamptz not null,   -- when the process first found it missing
  seen_at timestamptz not null, -- when the process last wrote the row
  primary key (role, subscriber_id, record_id, public_key)
);

-- One row. The process that moves its due time does the housekeeping (src/housekeeping.ts).
create table work.housekeeping (
  only_row boolean primary key default true check (only_row),
  due_at timestamptz not null default now()
);
insert into work.housekeeping default values;
