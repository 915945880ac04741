-- What every role shares: the memory of requests, callbacks on their way, and the log of changes.
--
-- A table of due work has the columns due_at (null: nothing to do), lease_token, leased_until and attempts, and an index on due_at,
-- led by the columns that claims select and group by.

create schema if not exists work;

-- Requests that were accepted, with the answer they got: the same request again gets the same answer, and nothing is done twice.
create table work.request (
  id bigint generated always as identity primary key,
  -- SHA-256 over role, identity, method, url, action and message_id: an address may be longer than an index entry.
  key bytea not null unique,
  role text not null,
  identity text not null,
  method text not null,
  url text not null,
  action text not null,
  message_id text not null,
  digest text not null,
  status integer not null,
  body text not null,
  expires timestamptz not null,
  -- While its work is open, a request is remembered even after its signature has expired.
  open boolean not null,
  created_at timestamptz not null default now()
);
create index request_forgettable on work.request (expires) where not open;

-- Callbacks as stored bytes: what was promised with an ACK, and is sent again unchanged until it is delivered.
create table work.callback (
  id bigint generated always as identity primary key,
  role text not null,
  action text not null,
  message_id text not null,
  destination text not null,
  -- The origin of the destination: one slow receiver must not take the places of all others.
  receiver text not null,
  body bytea not null,
  -- The signature of the request that this answers, verbatim: part of what the callback's own signature covers.
  request_signature text not null,
  request_id bigint references work.request on delete set null,
  created_at timestamptz not null default now(),
  give_up_at timestamptz not null,
  state text not null default 'open' check (state in ('open', 'delivered', 'refused', 'parked')),
  last_status integer,
  last_error text,
  settled_at timestamptz,
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index callback_due on work.callback (role, due_at) where due_at is not null;
create index callback_due_by_receiver on work.callback (role, receiver, due_at) where due_at is not null;
create index callback_in_work on work.callback (leased_until) where leased_until is not null;
create index callback_of_request on work.callback (request_id) where request_id is not null;
create index callback_by_state on work.callback (state, id);

create schema if not exists catalog;

-- A change commits together with its row here, still without a number; committed rows are numbered afterwards, one numbering at a
-- time, and readers see numbered rows only. So whoever has read up to a number has missed nothing below it.
create table catalog.change_log (
  id bigint generated always as identity primary key,
  seq bigint unique,
  catalog_key bigint not null,
  version integer not null,
  publisher text not null,
  submission_id bigint,
  kind text not null,
  at timestamptz not null,
  details json not null
);
create index change_log_unnumbered on catalog.change_log (id) where seq is null;
create index change_log_of_catalog on catalog.change_log (catalog_key, version);
create index change_log_at on catalog.change_log using brin (at);
