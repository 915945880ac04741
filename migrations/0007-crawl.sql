-- The crawler of the discovery service: whom it reads, what it has read, and what is still to do.
--
-- Work is done host by host: a host is leased as a whole, so that however many processes crawl, one of them at a time asks it, and every
-- result is written under its lease. The rows of nodes, indexes and targets have due times only; the due time of a host is that of the first
-- of them. `stir` counts whatever made a row due from outside: who finishes its work and finds another count is not finished.

-- The settings under which entries were judged: under others, all are judged again.
create table discovery.crawl_policy (
  only_row boolean primary key default true check (only_row),
  policy text not null
);

-- Where nodes are named: a network of the settings, a node that the operator named by its subscriberId or by its base address; and a network
-- in which MASTER catalogs are looked for that crawled ones extend.
create table discovery.crawl_source (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('network', 'subscriber', 'address', 'masters')),
  name text not null,
  failures integer not null default 0,
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0,
  unique (kind, name)
);
create index crawl_source_due on discovery.crawl_source (due_at) where due_at is not null;

create table discovery.crawl_host (
  id bigint generated always as identity primary key,
  -- With its port.
  host text not null unique,
  -- How often in a row it could not be reached, and until when it is left in peace.
  failures integer not null default 0,
  rest_until timestamptz,
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index crawl_host_due on discovery.crawl_host (due_at) where due_at is not null;

create table discovery.crawl_node (
  id bigint generated always as identity primary key,
  -- Its identity.
  node text not null unique,
  host_id bigint not null references discovery.crawl_host,
  -- details.subscriber_id and url of its registry record, which its catalogs are served with.
  subscriber_id text,
  url text,
  network_memberships text[] not null default '{}',
  -- The address that the operator wrote, where the node is known by one.
  configured_url text,
  -- Whether a source of the settings still names it, or ever did: what nobody asks for is not served.
  named boolean not null default true,
  -- Whether it may have MASTER catalogs that others extend: these are read, whoever names it.
  has_masters boolean not null default false,
  manifest_url text,
  manifest_etag text,
  manifest_modified text,
  -- Names that the manifest gives to keys of the registry, as pairs of such a name and a record id.
  key_names jsonb not null default '[]',
  -- When its manifest and its record announce their next update; the earlier of the two.
  next_update timestamptz,
  checked_at timestamptz,
  hinted_at timestamptz,
  -- What was fetched of it on a day.
  fetched_on date,
  fetched_bytes bigint not null default 0,
  failures integer not null default 0,
  stir bigint not null default 0,
  due_at timestamptz
);
create index crawl_node_due on discovery.crawl_node (host_id, due_at) where due_at is not null;

-- Which sources name a node; present: also when it was last asked. A node that a source does not name any more stays known.
create table discovery.crawl_naming (
  source_id bigint not null references discovery.crawl_source on delete cascade,
  node_id bigint not null references discovery.crawl_node on delete cascade,
  present boolean not null,
  primary key (source_id, node_id)
);
create index crawl_naming_of_node on discovery.crawl_naming (node_id);

create table discovery.crawl_index (
  id bigint generated always as identity primary key,
  node_id bigint not null references discovery.crawl_node on delete cascade,
  host_id bigint not null references discovery.crawl_host,
  url text not null,
  -- Whether the node's record lists it.
  listed boolean not null default true,
  etag text,
  modified text,
  next_update timestamptz,
  signed_by text,
  read_at timestamptz,
  failures integer not null default 0,
  stir bigint not null default 0,
  due_at timestamptz,
  unique (node_id, url)
);
create index crawl_index_due on discovery.crawl_index (host_id, due_at) where due_at is not null;
create index crawl_index_url on discovery.crawl_index using hash (url);

-- The entries of each index, as received and verified.
create table discovery.crawl_entry (
  index_id bigint not null references discovery.crawl_index on delete cascade,
  catalog_id text not null,
  node_id bigint not null,
  entry_version bigint not null,
  is_master boolean not null,
  -- SHA-256 of the document.
  digest text not null,
  document json not null,
  primary key (index_id, catalog_id)
);
create index crawl_entry_of_catalog on discovery.crawl_entry (node_id, catalog_id);

-- A catalog of a node: the entry that counts, and how far we are (the cursor).
create table discovery.crawl_target (
  id bigint generated always as identity primary key,
  node_id bigint not null references discovery.crawl_node on delete cascade,
  node text not null,
  host_id bigint not null references discovery.crawl_host,
  catalog_id text not null,
  is_master boolean not null,
  -- Of the entry that counts: of several indexes, the one with the highest entryVersion. Null: in none any more.
  index_id bigint references discovery.crawl_index on delete set null,
  entry_version bigint,
  digest text,
  -- The cursor: the entry that was dealt with last, and what is applied.
  settled_digest text,
  applied_entry_version bigint,
  version bigint,
  applied_master boolean,
  resources bigint not null default 0,
  -- The keys that signed what is applied.
  entry_key text,
  content_keys text[] not null default '{}',
  -- For ever, from the moment that any retiredAt was seen.
  retired_at timestamptz,
  -- Absent from every index of its node; a key that signed it was revoked.
  unconfirmed_since timestamptz,
  unverified_since timestamptz,
  -- In our networks; asked for by the settings, or a MASTER that others may extend; unconfirmed, where that hides it.
  relevant boolean not null default true,
  named boolean not null default true,
  hidden boolean not null default false,
  -- MASTER catalogs and resources that it waits for.
  waiting_for text[],
  shown boolean not null generated always as (
    version is not null and retired_at is null and unverified_since is null and relevant and named and not hidden
  ) stored,
  failures integer not null default 0,
  last_code text,
  stir bigint not null default 0,
  due_at timestamptz,
  unique (node_id, catalog_id)
);
create index crawl_target_due on discovery.crawl_target (host_id, is_master desc, due_at) where due_at is not null;
create index crawl_target_of_node on discovery.crawl_target (node, catalog_id);
create index crawl_master on discovery.crawl_target (catalog_id) where is_master;
create index crawl_target_of_index on discovery.crawl_target (index_id);
create index crawl_target_waiting on discovery.crawl_target using gin (waiting_for) where waiting_for is not null;

-- The resources that extend one of a MASTER catalog: as published, and with what they were assembled with. A dependent is assembled while it
-- holds a shared lock on its master's row in discovery.catalog, which the master needs for itself to move: so it either sees the new template,
-- or is found by the rebuild.
create table discovery.crawl_extension (
  target_id bigint not null references discovery.crawl_target on delete cascade,
  resource_id text not null,
  own json not null,
  directive json not null,
  master_resource_id text not null,
  -- The MASTER catalog, its content version, and the template: it is kept, because the master may drop it.
  master_key bigint not null,
  master_version bigint not null,
  inherited json not null,
  primary key (target_id, resource_id)
);
create index crawl_extension_of_master on discovery.crawl_extension (master_key, master_version, target_id);

-- Masters whose dependents may lag behind.
create table discovery.crawl_rebuild (
  id bigint generated always as identity primary key,
  master_key bigint not null unique,
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index crawl_rebuild_due on discovery.crawl_rebuild (due_at) where due_at is not null;

-- What went wrong, and what to do about it. The same again counts, and moves to the end.
create table discovery.crawl_log (
  id bigint generated always as identity primary key,
  key bytea not null unique,
  node text not null,
  index_url text,
  catalog_id text,
  url text,
  document text,
  code text not null,
  message text not null,
  hint text not null,
  first_at timestamptz not null,
  at timestamptz not null,
  times bigint not null default 1
);
create index crawl_log_of_node on discovery.crawl_log (node, at desc, id desc);
create index crawl_log_at on discovery.crawl_log (at desc, id desc);
