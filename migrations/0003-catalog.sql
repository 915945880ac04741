-- The catalog service: who subscribes, what was submitted, what is current, who has been told.
-- Documents are kept as `json` (the text as rendered once), so that they leave the service without being parsed again.

create table catalog.subscription (
  id uuid primary key,
  owner text not null,
  status text not null check (status in ('ACTIVE', 'INACTIVE')),
  network_ids text[] not null,
  schema_types text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index subscription_of_owner on catalog.subscription (owner, created_at, id);
create index subscription_active on catalog.subscription (owner) where status = 'ACTIVE';

-- A publisher's submissions are worked on one after the other: the lane is the due work, not the submission.
-- Accepting a submission locks its lane's row first, so that ids within a lane rise in the order of acceptance.
create table catalog.lane (
  id bigint generated always as identity primary key,
  publisher text not null unique,
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index lane_due on catalog.lane (due_at) where due_at is not null;

create table catalog.submission (
  id bigint generated always as identity primary key,
  publisher text not null,
  message_id text not null,
  accepted_at timestamptz not null,
  context json not null,
  -- The raw body as it was signed; dropped when the submission is done.
  body bytea,
  digest text not null,
  request_signature text not null,
  request_id bigint,
  callback_url text not null,
  -- `subscriber_id` of the registry record that the request was verified with.
  record_subscriber_id text not null,
  done_at timestamptz
);
-- Gone within seconds: compressing it would cost more than writing it.
alter table catalog.submission alter column body set storage external;
-- For housekeeping: rows are done about in the order in which they came, so a few bytes per page are enough.
create index submission_done on catalog.submission using brin (done_at);
create index submission_open on catalog.submission (publisher, id) where done_at is null;

-- One result per submitted catalog, written in the transaction that applied it: a re-run skips what has one.
create table catalog.submission_result (
  submission_id bigint not null references catalog.submission on delete cascade,
  position integer not null,
  catalog_id text not null,
  result json not null,
  primary key (submission_id, position)
);

create table catalog.catalog (
  key bigint generated always as identity primary key,
  id text not null unique,
  -- Null once an operator has released the id: the next publisher becomes its owner.
  owner text,
  type text not null check (type in ('REGULAR', 'MASTER')),
  visible_to text[] not null,
  -- Rises by one with every change of what leaves the service.
  version integer not null,
  -- The last version that removed something: whoever acknowledged an older one needs the whole catalog.
  full_version integer not null,
  -- The catalog-level members (id, descriptor, provider, bppId, bppUri, isActive, validity) as published, and as they leave the
  -- service: with bppId and bppUri where the publisher gave none.
  members json not null,
  head json not null,
  is_active boolean not null,
  resource_count integer not null,
  offer_count integer not null,
  -- How many resources, offers and considerations use each schema type (context, and context#Type).
  schema_uses jsonb not null,
  schema_types text[] not null,
  published_at timestamptz not null,
  updated_at timestamptz not null
);
create index catalog_by_type on catalog.catalog (type, key);

-- Resources and offers have no foreign key to their catalog, which is never deleted: checked row by row, it would cost as much as storing
-- them.
create table catalog.resource (
  catalog_key bigint not null,
  id text not null,
  -- As published, and as it leaves the service (null when nothing is inherited: then it is the same).
  own json not null,
  assembled json,
  -- What it extends, the template as inherited last, and the version of the master catalog that it was assembled with.
  directive json,
  master_key bigint,
  master_resource_id text,
  master_version integer,
  inherited json,
  is_template boolean not null default false,
  changed_version integer not null,
  primary key (catalog_key, id)
);
create index resource_changed on catalog.resource (catalog_key, changed_version, id);
create index resource_template on catalog.resource (id) where is_template;
create index resource_dependent on catalog.resource (master_key, master_version, catalog_key) where master_key is not null;
-- Which resource of a catalog is a variant; hashed, because its names may be longer than an index entry.
create index resource_variant on catalog.resource (
  catalog_key, md5(md5(master_resource_id) || md5(directive -> 'variant' ->> 'type') || md5(directive -> 'variant' ->> 'id'))
) where directive -> 'variant' is not null;

create table catalog.offer (
  catalog_key bigint not null,
  id text not null,
  own json not null,
  changed_version integer not null,
  primary key (catalog_key, id)
);
create index offer_changed on catalog.offer (catalog_key, changed_version, id);

-- Masters whose dependents may lag behind: one rebuild per master catalog.
create table catalog.rebuild (
  id bigint generated always as identity primary key,
  master_key bigint not null unique references catalog.catalog on delete cascade,
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index rebuild_due on catalog.rebuild (due_at) where due_at is not null;

-- Subscribers that are pushed to. One process at a time serves a subscriber, several catalogs at once: the lane is the due work, not the
-- push.
create table catalog.push_lane (
  id bigint generated always as identity primary key,
  subscriber text not null unique,
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index push_lane_due on catalog.push_lane (due_at) where due_at is not null;

-- What each subscriber has acknowledged of each catalog. The push is computed from this and the current catalog.
create table catalog.push (
  id bigint generated always as identity primary key,
  subscriber text not null,
  catalog_key bigint not null references catalog.catalog on delete cascade,
  -- The version that was current when a push was last called for; a push that was computed from an older one is not the last.
  wanted_version integer not null,
  acknowledged_version integer,
  -- The next push must carry the whole catalog: it is the first one, or the last was refused, answered with 202 or not answered.
  needs_full boolean not null default true,
  -- Set before a push leaves, cleared when one is acknowledged: found set, nobody knows whether it arrived.
  in_flight boolean not null default false,
  -- The deactivating push was acknowledged: nothing more is said until the catalog matches again.
  withdrawn boolean not null default false,
  -- The networks that the last acknowledged push named: a withdrawal names them again when none is left.
  told_networks text[] not null default '{}',
  -- context.timestamp of the last push: the next one is later.
  sent_timestamp timestamptz,
  -- How large a body may be, learned from 413 answers; null: the usual limit.
  part_bytes integer,
  state text not null default 'pending' check (state in ('pending', 'acknowledged', 'withdrawn', 'parked', 'no endpoint')),
  last_status integer,
  last_error text,
  -- How often it failed in a row, since when, and when it is tried next. A push that is under way stays due.
  attempts integer not null default 0,
  failing_since timestamptz,
  due_at timestamptz,
  unique (subscriber, catalog_key)
  -- Room for the next version of a row on its page.
) with (fillfactor = 60);
create index push_due on catalog.push (subscriber, due_at) where due_at is not null;
create index push_of_catalog on catalog.push (catalog_key);

-- How far the change log has been turned into due pushes. One row.
create table catalog.push_cursor (
  only_row boolean primary key default true check (only_row),
  seq bigint not null
);
insert into catalog.push_cursor (seq) values (0);

create table catalog.pull (
  id bigint generated always as identity primary key,
  owner text not null,
  subscription_id uuid not null,
  page_limit integer not null,
  page_offset bigint not null,
  context json not null,
  digest text not null,
  request_signature text not null,
  request_id bigint,
  callback_url text not null,
  accepted_at timestamptz not null,
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0
);
create index pull_due on catalog.pull (due_at) where due_at is not null;

-- Downloads live here in pieces, so that any process can serve them and none holds one in memory.
create table catalog.download (
  id uuid primary key,
  owner text not null,
  expires_at timestamptz not null,
  size_bytes bigint not null,
  checksum text not null
);
create index download_expiry on catalog.download (expires_at);
create table catalog.download_piece (
  download_id uuid not null references catalog.download on delete cascade,
  position integer not null,
  bytes bytea not null,
  primary key (download_id, position)
);
alter table catalog.download_piece alter column bytes set storage external;
