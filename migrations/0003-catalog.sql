-- Schema catalog: the catalog service. Subscriptions, submissions, current catalogs, and pushes.
-- Documents have the type `json`, the text as it was first rendered: they are served without parsing.
-- due_at, lease_token, leased_until and attempts: due work, see 0001-work.sql.
-- catalog_key and master_key are keys of catalog.catalog, and versions are those of that table.

create schema if not exists catalog;

-- Subscriptions: the catalogs that a subscriber gets.
create table catalog.subscription (
  id uuid primary key,
  owner text not null,          -- identity of the subscriber
  status text not null check (status in ('ACTIVE', 'INACTIVE')),
  network_ids text[] not null,  -- empty: every network
  schema_types text[] not null, -- empty: every type
  schema_ids text[] not null default '{}', -- all names of these types, for matching with catalogs
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index subscription_of_owner on catalog.subscription (owner, created_at, id);
create index subscription_active on catalog.subscription (owner) where status = 'ACTIVE';

-- Submissions.

-- The submissions of a publisher are processed one after another, so the lane is the due work, not the submission. Accepting a submission first locks
-- the row of its lane, so ids within a lane rise in the order of acceptance.
create table catalog.lane (
  id bigint generated always as identity primary key,
  publisher text not null unique, -- identity
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index lane_due on catalog.lane (due_at) where due_at is not null;
create index lane_in_work on catalog.lane (leased_until) where leased_until is not null;

-- Accepted publishes. They are kept for some time after they were processed, as the history.
create table catalog.submission (
  id bigint generated always as identity primary key,
  publisher text not null,             -- identity
  record_subscriber_id text not null,  -- subscriber_id of the registry record that verified the request
  network_memberships text[] not null default '{}', -- of the same record
  message_id text not null,
  accepted_at timestamptz not null,
  context json not null,               -- of the request
  body bytea,                          -- the raw signed body; null once the submission is done
  digest text not null,                -- of the raw body
  request_signature text not null,     -- the signature of on_publish covers it
  request_id bigint,                   -- work.request
  callback_url text not null,          -- where on_publish goes
  traceparent text,                    -- W3C trace context; null: not traced
  done_at timestamptz                  -- null: not processed yet
);
-- The body is deleted within seconds: compression would cost more than writing it.
alter table catalog.submission alter column body set storage external;
-- For housekeeping. Rows are done roughly in the order of their arrival, so a few bytes per page are enough.
create index submission_done on catalog.submission using brin (done_at);
create index submission_open on catalog.submission (publisher, id) where done_at is null;

-- One result per submitted catalog, written in the transaction that applied it: a restart of the processing skips catalogs with a result.
create table catalog.submission_result (
  submission_id bigint not null references catalog.submission on delete cascade,
  position integer not null,    -- of the catalog in the message, from 0
  catalog_id text not null,     -- as submitted: a refused catalog may not exist
  result json not null,         -- as on_publish reports it
  inherited_bytes bigint not null default 0, -- bytes of templates that the catalog inherits, or would have inherited, as in catalog.catalog
  warnings json,                -- probable mistakes that are not errors (src/catalog/find-warnings.ts); null: none
  primary key (submission_id, position)
);
create index submission_result_of_catalog on catalog.submission_result (catalog_id, submission_id);

-- Catalogs as their publishers last published them, and as they are served. Their resources and offers are in the tables below.
create table catalog.catalog (
  key bigint generated always as identity primary key,
  id text not null unique,
  owner text,                       -- identity of the publisher; null once an operator has released the id: the next publisher becomes its owner
  type text not null check (type in ('REGULAR', 'MASTER')),
  visible_to text[] not null,       -- networks
  version integer not null,         -- rises by one with every change of the served content
  full_version integer not null,    -- the last version that removed something: a subscriber that acknowledged an older one needs the whole catalog
  members json not null,            -- the catalog-level members (id, descriptor, provider, bppId, bppUri, isActive, validity) as published
  head json not null,               -- the same as served: with bppId and bppUri even if the publisher gave none
  is_active boolean not null,       -- isActive; true if the publisher gave none
  resource_count integer not null,
  offer_count integer not null,
  schema_uses jsonb not null,       -- how many resources, offers and considerations use each schema type (context, and context#Type)
  schema_types text[] not null,     -- the names in schema_uses
  inherited_bytes bigint not null default 0, -- bytes of the templates that its resources inherit, counted per resource
  traceparent text,                 -- trace of the publish that changed it last: pushes continue it
  published_at timestamptz not null, -- first publish
  updated_at timestamptz not null   -- last change
);
create index catalog_by_type on catalog.catalog (type, key);
create index catalog_of_owner on catalog.catalog (owner);
create index catalog_inherits on catalog.catalog (owner, inherited_bytes) where inherited_bytes > 0;
create index catalog_visible_to on catalog.catalog using gin (visible_to);

-- Resources and offers have no foreign key to their catalog, which is never deleted: checking it row by row would cost as much as storing them.
create table catalog.resource (
  catalog_key bigint not null,
  id text not null,
  own json not null,                -- as published
  assembled json,                   -- as served; null: the same as published, because nothing is inherited
  directive json,                   -- the template that it extends and the variant, as published; null: none
  master_key bigint,                -- the MASTER catalog that it extends a template of
  master_resource_id text,          -- the template
  master_version integer,           -- version of the MASTER catalog that was used to assemble it
  edition bigint,                   -- of the template when it was last inherited: catalog.inherited
  is_template boolean not null default false, -- a resource of a MASTER catalog that others may extend
  template_bytes integer,           -- length of its JSON text, if it is a template
  changed_version integer not null, -- version of its catalog in which it changed last
  primary key (catalog_key, id)
);
create index resource_changed on catalog.resource (catalog_key, changed_version, id);
create index resource_template on catalog.resource (id) where is_template;
create index resource_dependent on catalog.resource (master_key, master_version, catalog_key) where master_key is not null;
-- The variants among the resources of a catalog. Hashed, because their names may be longer than an index entry.
create index resource_variant on catalog.resource (
  catalog_key, md5(md5(master_resource_id) || md5(directive -> 'variant' ->> 'type') || md5(directive -> 'variant' ->> 'id'))
) where directive -> 'variant' is not null;

-- Templates as a catalog's resources last inherited them: stored once per catalog, however many of its resources inherit them, and kept because the
-- master may change or drop them.
create table catalog.inherited (
  catalog_key bigint not null,      -- the catalog that inherits
  master_key bigint not null,
  master_resource_id text not null, -- the template
  edition bigint not null,          -- version of the MASTER catalog in which the template last changed
  bytes integer not null,           -- length of the JSON text
  uses integer not null,            -- resources of the catalog that inherit it
  template json not null,
  primary key (catalog_key, master_key, master_resource_id, edition)
);

-- The offers of a catalog.
create table catalog.offer (
  catalog_key bigint not null,
  id text not null,
  own json not null,                -- as published
  changed_version integer not null, -- version of its catalog in which it changed last
  primary key (catalog_key, id)
);
create index offer_changed on catalog.offer (catalog_key, changed_version, id);

-- MASTER catalogs whose dependents may be outdated: one rebuild per MASTER catalog.
create table catalog.rebuild (
  id bigint generated always as identity primary key,
  master_key bigint not null unique references catalog.catalog on delete cascade,
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index rebuild_due on catalog.rebuild (due_at) where due_at is not null;
create index rebuild_in_work on catalog.rebuild (leased_until) where leased_until is not null;

-- The log of changes. A change commits together with its row here, which has no number at first. Committed rows are numbered afterwards, by one
-- process at a time, and readers only see numbered rows: a reader at a number has missed nothing below it.
create table catalog.change_log (
  id bigint generated always as identity primary key,
  seq bigint unique,                -- the number, without gaps; null: not numbered yet
  catalog_key bigint not null,
  version integer not null,         -- of the catalog, after the change
  publisher text not null,          -- identity
  submission_id bigint,             -- null: not caused by a publish, but for example by a new version of a MASTER catalog
  kind text not null,               -- published in full, merged or reassembled
  at timestamptz not null,
  details json not null             -- counts of what was inserted, updated and removed
);
create index change_log_unnumbered on catalog.change_log (id) where seq is null;
create index change_log_of_catalog on catalog.change_log (catalog_key, version);

-- Pushes.

-- One row: how far the change log has been turned into due pushes.
create table catalog.push_cursor (
  only_row boolean primary key default true check (only_row),
  seq bigint not null           -- of catalog.change_log
);
insert into catalog.push_cursor (seq) values (0);

-- Subscribers that receive pushes. One process at a time serves a subscriber, with several catalogs at once, so the lane is the due work, not the push.
create table catalog.push_lane (
  id bigint generated always as identity primary key,
  subscriber text not null unique, -- identity
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
-- Includes rows that are not due: gauges read subscribers in the order of their next push, and then those without one.
create index push_lane_due on catalog.push_lane (due_at);
create index push_lane_in_work on catalog.push_lane (leased_until) where leased_until is not null;

-- The versions that each subscriber has acknowledged. A push is computed from this row and the current catalog.
-- States: acknowledged, nothing is left to send; parked, refused or not delivered in time; no endpoint, the registry has no url of the subscriber;
-- skipped, given up by an operator. The last three wait for the next version of the catalog; an operator can replay all but skipped ones earlier.
create table catalog.push (
  id bigint generated always as identity primary key,
  subscriber text not null,         -- identity
  catalog_key bigint not null references catalog.catalog on delete cascade,
  wanted_version integer not null,  -- the current version when a push was last requested: a push of an older one is not the last
  acknowledged_version integer,     -- null: none
  needs_full boolean not null default true,  -- the next push must carry the whole catalog: it is the first, or the last was refused, answered with 202 or not answered
  in_flight boolean not null default false,  -- set before a push is sent, cleared when one is acknowledged: if a process finds it set, the push may or may not have arrived
  withdrawn boolean not null default false,  -- the deactivating push was acknowledged: nothing is sent until the catalog matches again
  told_networks text[] not null default '{}', -- networks in the last acknowledged push: a withdrawal names them if none is left
  form text,                        -- form of the last push: full or strict; null: nothing was pushed
  part_bytes integer,               -- largest body that the subscriber accepts, from its 413 answers; null: the usual limit
  state text not null default 'pending' check (state in ('pending', 'acknowledged', 'withdrawn', 'parked', 'no endpoint', 'skipped')),
  sent_timestamp timestamptz,       -- context.timestamp of the last push: the next one is later
  last_status integer,              -- HTTP status of the last attempt
  last_error text,                  -- its error
  history jsonb,                    -- the last requests with their answers (src/storage/work/history.ts); null: none has failed
  attempts integer not null default 0, -- failures in a row; a parked push keeps them
  failing_since timestamptz,        -- the first of them
  rest_until timestamptz,           -- the subscriber asked for no attempt before then (Retry-After): even a new version does not make the push due earlier
  due_at timestamptz,               -- the next attempt; a push that is under way stays due
  unique (subscriber, catalog_key)
) with (fillfactor = 60);           -- leaves space for the next version of a row on its page
create index push_due on catalog.push (subscriber, due_at) where due_at is not null;
create index push_of_catalog on catalog.push (catalog_key);
create index push_parked on catalog.push (subscriber, catalog_key) where state in ('parked', 'no endpoint');
create index push_withdrawn on catalog.push (sent_timestamp) where state = 'withdrawn';

-- Pulls.

-- Acknowledged pulls without an answer yet. A row is deleted when its on_pull is queued.
create table catalog.pull (
  id bigint generated always as identity primary key,
  owner text not null,              -- identity of the subscriber
  subscription_id uuid not null,    -- catalog.subscription
  page_limit integer not null,      -- maximum number of catalogs on the page
  page_offset bigint not null,      -- catalogs before the page
  context json not null,            -- of the request
  digest text not null,             -- of its raw body
  request_signature text not null,  -- the signature of on_pull covers it
  request_id bigint,                -- work.request
  callback_url text not null,       -- where on_pull goes
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index pull_due on catalog.pull (due_at) where due_at is not null;
create index pull_of_owner on catalog.pull (owner, due_at);
create index pull_in_work on catalog.pull (leased_until) where leased_until is not null;

-- Answers to pulls that are too large for a callback and are downloaded. In pieces, so that any process can serve them without holding a whole one in memory.
create table catalog.download (
  id uuid primary key,
  owner text not null,              -- identity of the subscriber, the only one that may download it
  expires_at timestamptz not null,
  size_bytes bigint not null,       -- compressed
  checksum text not null            -- `sha256:` and the hex digest of the compressed bytes
);
create index download_expiry on catalog.download (expires_at);
-- The pieces of each download.
create table catalog.download_piece (
  download_id uuid not null references catalog.download on delete cascade,
  position integer not null,        -- from 0; all pieces but the last have the same size
  bytes bytea not null,             -- compressed (gzip)
  primary key (download_id, position)
);
alter table catalog.download_piece alter column bytes set storage external;
