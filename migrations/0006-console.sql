-- Schema console: the console's data. Operators, the audit log, the health of each process per minute, and searches without results.

create schema if not exists console;

-- Operators with a personal token (signpost operators). The first operator, whose token is a setting or a file, has no row.
create table console.operator (
  name text primary key,
  role text not null check (role in ('read', 'operate', 'publish')), -- each includes those before it
  token_hash bytea not null unique, -- SHA-256; the token itself is shown once and not stored
  created_at timestamptz not null default now()
);

-- The audit log: every action of an operator that changes something, even if it failed.
create table console.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null default 'console' check (actor in ('console', 'cli')),
  operator text not null,           -- console: the name of the operator; cli: the user of the system that ran the command
  address text,                     -- console: the address that sent the request
  action text not null,             -- such as deliveries.replay
  target text not null,             -- what it changes, such as a catalogId or a node
  outcome text not null             -- done, or the reason why not
);
create index audit_at on console.audit (at);

-- One row per minute and process.
create table console.minute (
  at timestamptz not null,          -- a whole minute
  process text not null,            -- '' for values of all processes together (sizes, queues)
  about jsonb,                      -- roles and version of the process; null for values of all processes
  numbers jsonb not null,           -- of that minute only, histograms as counts per bucket: rows of several processes can be added
  primary key (at, process)
);

-- Searches without results. A repeated search is counted, and moves to the end.
create table console.empty_search (
  key bytea primary key,            -- SHA-256 of network and intent
  network_id text,                  -- null: the search named none
  intent json not null,             -- beyond 8 KiB, only its length
  near_misses json not null,        -- what almost matched (src/search/near-misses)
  first_at timestamptz not null,
  at timestamptz not null,          -- the last time
  times bigint not null
);
create index empty_search_at on console.empty_search (at desc);
