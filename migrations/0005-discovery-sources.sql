-- Schema discovery, second part: the feeds and the crawler that bring the catalogs of 0004-discovery.sql.
-- due_at, lease_token, leased_until and attempts: due work, see 0001-work.sql.

-- Feeds: how the discovery service keeps up with the catalog services that it subscribes to.

-- A feed is one subscription at a catalog service: one per service and network, so that the networks of its catalogs are known. Its row is the due
-- work of subscribing and pulling.
create table discovery.feed (
  id bigint generated always as identity primary key,
  catalog_url text not null,        -- of the catalog service
  network_id text not null,         -- '' for a subscription to every network
  schema_types text[] not null,     -- empty: every type
  position integer not null,        -- order in the settings: if several services have a catalog, the first one counts
  configured boolean not null default true, -- false once the settings no longer name it: it is then cancelled
  service text,                     -- identity of the service: from the settings, or learned from the answers at catalog_url
  subscription_id uuid,             -- at the service; null: not subscribed
  cancelled_ids uuid[] not null default '{}', -- subscriptions that the current one replaced and that must still be deactivated
  check_at timestamptz,             -- when to check again that the subscription is ACTIVE: anybody who has seen the signature of a DELETE may deactivate it; null: at once
  pull_at timestamptz,              -- when everything is pulled next
  run uuid,                         -- the current pull: all its pages have the same run
  run_started_at timestamptz,
  page_offset bigint not null default 0, -- catalogs before the current page
  run_skipped boolean not null default false, -- a catalog could not be compared in this run, because a push of it arrived meanwhile
  message_id text,                  -- request of the current page; null: not sent yet
  sent_at timestamptz,              -- when that request was sent
  completed_at timestamptz,         -- end of the last complete pull
  out_of_step_since timestamptz default now(), -- from the first start, a failure or the loss of the subscription until the next pull completes; null: in step
  failures integer not null default 0, -- of the current step, in a row
  last_error text,                  -- the last of them
  last_status integer,              -- its HTTP status, until a step of that kind succeeds
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0,
  unique (catalog_url, network_id)
);
create index feed_due on discovery.feed (due_at) where due_at is not null;
create index feed_in_work on discovery.feed (leased_until) where leased_until is not null;

-- An acknowledged on_pull that is not applied yet.
create table discovery.pull_answer (
  feed_id bigint primary key references discovery.feed on delete cascade,
  message_id text not null,         -- of the answered request
  body bytea not null               -- raw bytes
);

-- The catalogs that a feed lists.
create table discovery.listing (
  feed_id bigint not null references discovery.feed on delete cascade,
  catalog_key bigint not null references discovery.catalog on delete cascade,
  run uuid,                         -- the last pull that listed it; null: never listed
  missing_pulls integer not null default 0, -- complete pulls in a row without it, although they should have listed it
  primary key (feed_id, catalog_key)
);
create index listing_of_catalog on discovery.listing (catalog_key);

-- Ids of a catalog that is too large to be applied at once: after its last part, everything else is removed. Unlogged, because after a crash the page
-- is applied from its beginning.
create unlogged table discovery.pulled_item (
  feed_id bigint not null,
  kind text not null,               -- resource or offer
  id text not null,
  primary key (feed_id, kind, id)
);

-- Catalogs with several copies whose served copy is not decided yet, because one transaction changed more of them than it could lock
-- (src/storage/feeds/precedence.ts).
create table discovery.unsettled (
  number bigint generated always as identity primary key, -- they are settled in this order
  owner text not null,              -- of the catalog
  id text not null                  -- of the catalog
);

-- One row: when a process of this service last ran. Pushes may have been missed during an absence.
create table discovery.presence (
  only_row boolean primary key default true check (only_row),
  seen_at timestamptz not null
);

-- The crawler: the hosts and nodes that it reads, what it has read, and what is left to do.
--
-- Work is done host by host. A host is leased as a whole: however many processes crawl, only one at a time sends requests to it, and every result is
-- written under its lease. Nodes, indexes and targets only have due times; the due time of a host is the earliest of theirs. `stir` counts outside
-- events that made a row due: a process that finishes the row and finds another count leaves it due.

-- One row: the settings that were used to judge entries. After a change, all entries are judged again.
create table discovery.crawl_policy (
  only_row boolean primary key default true check (only_row),
  policy text not null              -- JSON text
);

-- The sources of nodes: a network in the settings, a node that the operator named by its subscriberId or base address, or a network that is searched
-- for MASTER catalogs that crawled catalogs extend.
create table discovery.crawl_source (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('network', 'subscriber', 'address', 'masters')),
  name text not null,               -- network id, identity or base address
  failures integer not null default 0, -- in a row
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0,
  unique (kind, name)
);
create index crawl_source_due on discovery.crawl_source (due_at) where due_at is not null;
create index crawl_source_in_work on discovery.crawl_source (leased_until) where leased_until is not null;

-- The hosts of nodes and of their files: the due work of the crawler.
create table discovery.crawl_host (
  id bigint generated always as identity primary key,
  host text not null unique,        -- with its port
  failures integer not null default 0, -- how often in a row it was unreachable
  rest_until timestamptz,           -- no requests to it before then
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index crawl_host_due on discovery.crawl_host (due_at) where due_at is not null;
create index crawl_host_in_work on discovery.crawl_host (leased_until) where leased_until is not null;
-- This index and those named ..._by_due find times that a clock jump has left too far ahead (src/storage/crawl/pull-forward.ts).
create index crawl_host_resting on discovery.crawl_host (rest_until) where rest_until is not null;

-- The provider nodes.
create table discovery.crawl_node (
  id bigint generated always as identity primary key,
  node text not null unique,        -- identity
  host_id bigint not null references discovery.crawl_host,
  subscriber_id text,               -- details.subscriber_id of its registry record, which its catalogs are served with
  url text,                         -- details.url of the same record
  network_memberships text[] not null default '{}',
  configured_url text,              -- the address that the operator wrote; null: the operator gave none
  named boolean not null default true, -- a source of the settings names it: catalogs of other nodes are not served
  has_masters boolean not null default false, -- it may have MASTER catalogs that others extend: these are read even if no source names the node
  manifest_url text,                -- where the manifest was found; null: nowhere
  manifest_etag text,               -- validators of the manifest for conditional requests
  manifest_modified text,
  key_names jsonb not null default '[]', -- names that the manifest gives to keys of the registry: pairs of a name and a record id
  digests_at timestamptz,           -- updated_at of the digests document of its manifest, which never decreases
  next_update timestamptz,          -- the earliest next update that its manifest, digests document and record announce
  checked_at timestamptz,           -- last check, successful or not
  hinted_at timestamptz,            -- last crawl hint
  fetched_on date,                  -- the day that fetched_bytes counts
  fetched_bytes bigint not null default 0,
  failures integer not null default 0, -- in a row
  stir bigint not null default 0,
  due_at timestamptz
);
create index crawl_node_due on discovery.crawl_node (host_id, due_at) where due_at is not null;
create index crawl_node_by_due on discovery.crawl_node (due_at) where due_at is not null;
create index crawl_node_failing on discovery.crawl_node (id) where failures > 0;

-- The sources that name a node.
create table discovery.crawl_naming (
  source_id bigint not null references discovery.crawl_source on delete cascade,
  node_id bigint not null references discovery.crawl_node on delete cascade,
  present boolean not null,         -- also in the last answer of the source; a node that a source no longer names stays known
  primary key (source_id, node_id)
);
create index crawl_naming_of_node on discovery.crawl_naming (node_id);

-- Names in crawl hints that were unknown before. Each is looked up in the registry, so all processes together accept a limited number per minute.
create table discovery.crawl_stranger (
  node text primary key,            -- identity
  asked_at timestamptz not null     -- when it was looked up
);

-- The catalog indexes of each node.
create table discovery.crawl_index (
  id bigint generated always as identity primary key,
  node_id bigint not null references discovery.crawl_node on delete cascade,
  host_id bigint not null references discovery.crawl_host,
  url text not null,
  listed boolean not null default true, -- the node's record lists it
  etag text,                        -- validators for conditional requests
  modified text,
  served_digest text,               -- SHA-256 of the index as last served: some hosts send the same bytes to conditional requests
  next_update timestamptz,          -- as the index announces it
  read_at timestamptz,              -- when it was last verified; null: never
  failures integer not null default 0, -- in a row
  stir bigint not null default 0,
  due_at timestamptz,
  unique (node_id, url)
);
create index crawl_index_due on discovery.crawl_index (host_id, due_at) where due_at is not null;
create index crawl_index_by_due on discovery.crawl_index (due_at) where due_at is not null;
create index crawl_index_url on discovery.crawl_index using hash (url);
create index crawl_index_failing on discovery.crawl_index (node_id) where failures > 0;

-- The entries of each index, as received and verified.
create table discovery.crawl_entry (
  index_id bigint not null references discovery.crawl_index on delete cascade,
  catalog_id text not null,
  node_id bigint not null,
  entry_version bigint not null,    -- its entryVersion
  is_master boolean not null,       -- its catalogType is MASTER
  digest text not null,             -- SHA-256 of the document
  document json not null,           -- the entry
  primary key (index_id, catalog_id)
);
create index crawl_entry_of_catalog on discovery.crawl_entry (node_id, catalog_id);
create index crawl_entry_paused on discovery.crawl_entry (index_id, catalog_id) where document ->> 'isActive' = 'false';

-- A catalog of a node: the entry that counts, and the crawler's progress (the cursor).
create table discovery.crawl_target (
  id bigint generated always as identity primary key,
  node_id bigint not null references discovery.crawl_node on delete cascade,
  node text not null,               -- its identity
  host_id bigint not null references discovery.crawl_host,
  catalog_id text not null,
  is_master boolean not null,       -- the catalogType of its entry is MASTER
  -- The entry that counts: of several indexes, the one with the highest entryVersion.
  index_id bigint references discovery.crawl_index on delete set null, -- null: no index lists it any more
  entry_version bigint,             -- its entryVersion
  digest text,                      -- of the entry
  -- The cursor: the last processed entry, and the applied content.
  settled_digest text,              -- digest of the last processed entry; null: the current one is processed again
  applied_entry_version bigint,     -- entryVersion of the last processed entry
  version bigint,                   -- content version; null: nothing is applied
  applied_master boolean,           -- it was applied as a MASTER catalog
  resources bigint not null default 0, -- the number of its resources
  inherited_bytes bigint not null default 0, -- bytes of the templates that its resources inherit, counted per resource
  entry_key text,                   -- the key that signed the applied entry
  content_keys text[] not null default '{}', -- the keys that signed the applied content
  -- Its state.
  retired_at timestamptz,           -- any retiredAt retires it for ever
  unconfirmed_since timestamptz,    -- missing in every index of its node
  unverified_since timestamptz,     -- one of its signing keys was revoked
  relevant boolean not null default true, -- it belongs to our networks
  named boolean not null default true, -- the settings ask for it, or it is a MASTER catalog that others may extend
  hidden boolean not null default false, -- it is unconfirmed, and the settings hide unconfirmed catalogs
  waiting_for text[],               -- MASTER catalogs and resources that it waits for
  shown boolean not null generated always as ( -- its content may be served
    version is not null and retired_at is null and unverified_since is null and relevant and named and not hidden
  ) stored,
  failures integer not null default 0, -- in a row
  last_code text,                   -- error code of the last of them
  stir bigint not null default 0,
  due_at timestamptz,
  unique (node_id, catalog_id)
);
create index crawl_target_due on discovery.crawl_target (host_id, is_master desc, due_at) where due_at is not null;
create index crawl_target_by_due on discovery.crawl_target (due_at) where due_at is not null;
create index crawl_target_due_of_node on discovery.crawl_target (node_id, due_at) where due_at is not null and index_id is not null;
create index crawl_target_of_node on discovery.crawl_target (node, catalog_id);
create index crawl_target_by_catalog on discovery.crawl_target (catalog_id);
create index crawl_master on discovery.crawl_target (catalog_id) where is_master;
create index crawl_target_of_index on discovery.crawl_target (index_id);
create index crawl_target_waiting on discovery.crawl_target using gin (waiting_for) where waiting_for is not null;
create index crawl_target_failing on discovery.crawl_target (node_id) where failures > 0;

-- Resources that extend a resource of a MASTER catalog. A dependent is assembled under a shared lock on the row of its master in discovery.catalog,
-- which a change of the master locks exclusively: the dependent either sees the new template, or is found by the rebuild.
create table discovery.crawl_extension (
  target_id bigint not null references discovery.crawl_target on delete cascade,
  resource_id text not null,
  own json not null,                -- as published
  directive json not null,          -- the template that it extends and the variant, as published
  master_resource_id text not null, -- the template
  master_key bigint not null,       -- the MASTER catalog, in discovery.catalog
  master_version bigint not null,   -- content version of the MASTER catalog that was used to assemble it
  edition bigint not null,          -- of the template when it was last inherited: discovery.crawl_inherited
  primary key (target_id, resource_id)
);
create index crawl_extension_of_master on discovery.crawl_extension (master_key, master_version, target_id);

-- Templates as a crawled catalog's resources last inherited them, like catalog.inherited.
create table discovery.crawl_inherited (
  target_id bigint not null references discovery.crawl_target on delete cascade,
  master_key bigint not null,       -- in discovery.catalog
  master_resource_id text not null, -- the template
  edition bigint not null,          -- digest of the template
  bytes integer not null,           -- length of the JSON text
  uses integer not null,            -- resources of the catalog that inherit it
  template json not null,
  primary key (target_id, master_key, master_resource_id, edition)
);

-- MASTER catalogs whose dependents may be outdated.
create table discovery.crawl_rebuild (
  id bigint generated always as identity primary key,
  master_key bigint not null unique, -- in discovery.catalog
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index crawl_rebuild_due on discovery.crawl_rebuild (due_at) where due_at is not null;
create index crawl_rebuild_in_work on discovery.crawl_rebuild (leased_until) where leased_until is not null;

-- MASTER catalogs of catalog services that were removed while crawled catalogs extended them. These use the next copy, which has another key.
create table discovery.crawl_lost_master (
  key bigint primary key,           -- its former key in discovery.catalog
  owner text not null,              -- as in discovery.catalog
  id text not null                  -- as in discovery.catalog
);
create index crawl_lost_master_by_id on discovery.crawl_lost_master (id, owner);

-- The crawl log: what went wrong, and what to do about it. A repeated line is counted, and moves to the end.
create table discovery.crawl_log (
  id bigint generated always as identity primary key,
  key bytea not null unique,        -- SHA-256 of everything that makes two lines the same
  node text not null,               -- identity
  index_url text,
  catalog_id text,
  url text,                         -- of the file in question
  document text,                    -- its kind
  code text not null,               -- reason (src/discovery/crawl/reasons.ts)
  message text not null,            -- a sentence for the operator
  hint text not null,               -- what to do about it
  first_at timestamptz not null,
  at timestamptz not null,          -- the last time
  times bigint not null default 1
);
create index crawl_log_of_node on discovery.crawl_log (node, at desc, id desc);
create index crawl_log_at on discovery.crawl_log (at desc, id desc);
