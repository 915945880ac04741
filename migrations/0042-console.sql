-- What the console keeps: who changed what, how each process did minute by minute, and searches that found nothing.

create schema if not exists console;

-- Every action of an operator that changes something, also such as failed.
create table console.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  action text not null,
  target text not null,
  outcome text not null,
  -- The address that it came from.
  address text not null
);

-- One row per minute and process, and one, of the process '', of what all of them share (sizes, queues). Numbers are those of the minute alone, and histograms
-- are kept as counts per bucket, so that the rows of several processes can be added up.
create table console.minute (
  at timestamptz not null,
  process text not null,
  numbers jsonb not null,
  primary key (at, process)
);

-- The same search again counts, and moves to the end.
create table console.empty_search (
  -- SHA-256 of network and intent.
  key bytea primary key,
  network_id text,
  intent json not null,
  near_misses json not null,
  first_at timestamptz not null,
  at timestamptz not null,
  times bigint not null
);
create index empty_search_at on console.empty_search (at desc);
