-- What was asked of others and is answered by a callback; and how the discovery service stays in step with the catalog services that it
-- subscribes to.

-- Requests that were sent and whose callback is still to come: a callback is accepted by whichever process it reaches, also after a restart.
create table work.sent_request (
  role text not null,
  message_id text not null,
  action text not null,
  -- Of the raw body: a callback repeats it.
  digest text not null,
  -- The text of each signature under which it was sent: a callback signs one of them.
  signatures text[] not null,
  sent_at timestamptz not null,
  expires timestamptz not null,
  primary key (role, message_id)
);
create index sent_request_forgettable on work.sent_request (expires);

-- Callbacks that were taken: the same one again does nothing again. They are forgotten together with the request that they answer.
create table work.taken_callback (
  role text not null,
  message_id text not null,
  signer text not null,
  action text not null,
  digest text not null,
  primary key (role, message_id, signer, action, digest),
  foreign key (role, message_id) references work.sent_request on delete cascade
);

-- One feed is one subscription that is kept at a catalog service: one per service and network, so that the networks of what it brings are
-- known. Its row is the due work of subscribing and pulling.
create table discovery.feed (
  id bigint generated always as identity primary key,
  catalog_url text not null,
  -- '' for a subscription to every network.
  network_id text not null,
  schema_types text[] not null,
  -- The order of configuration: between services, the first one that holds a catalog counts.
  position integer not null,
  -- False once the settings do not name it any more: then it is cancelled.
  configured boolean not null default true,
  -- Identity of the service: configured, or learned from whoever answers at catalog_url.
  service text,
  subscription_id uuid,
  -- Subscriptions that were replaced by the current one and are still to be deactivated.
  cancelled_ids uuid[] not null default '{}',
  -- When everything is pulled next.
  pull_at timestamptz,
  -- The pull that is under way: all its pages have the same run.
  run uuid,
  run_started_at timestamptz,
  page_offset bigint not null default 0,
  -- A catalog could not be compared in this run, because a push of it came meanwhile.
  run_skipped boolean not null default false,
  -- The request of the current page, and when it was sent; null when it is still to be sent.
  message_id text,
  sent_at timestamptz,
  -- How often in a row the current step failed.
  failures integer not null default 0,
  last_error text,
  completed_at timestamptz,
  due_at timestamptz,
  lease_token uuid,
  leased_until timestamptz,
  attempts integer not null default 0,
  unique (catalog_url, network_id)
);
create index feed_due on discovery.feed (due_at) where due_at is not null;

-- An on_pull that was acknowledged and is still to be applied: the bytes of its message.
create table discovery.pull_answer (
  feed_id bigint primary key references discovery.feed on delete cascade,
  message_id text not null,
  body bytea not null
);

-- Which catalogs a feed listed in its last pull, and in how many pulls in a row those were missing that it should have listed.
create table discovery.listing (
  feed_id bigint not null references discovery.feed on delete cascade,
  catalog_key bigint not null references discovery.catalog on delete cascade,
  -- Null: never listed.
  run uuid,
  missing_pulls integer not null default 0,
  primary key (feed_id, catalog_key)
);
create index listing_of_catalog on discovery.listing (catalog_key);

-- The ids of a catalog that is too large to be applied at once: when its last part has come, what is not among them is removed. Nothing is
-- lost with a crash, because the page is then applied again from its beginning.
create unlogged table discovery.pulled_item (
  feed_id bigint not null,
  kind text not null,
  id text not null,
  primary key (feed_id, kind, id)
);

-- When the last push of a catalog was applied, by our own clock, and whether it brought only a part: what a pull brings that was sent before
-- is older.
alter table discovery.catalog add column push_arrived_at timestamptz, add column push_merged boolean not null default false;
create index catalog_of_source on discovery.catalog (source, id);

-- When a process of this service was last up: after an absence, pushes may have been missed.
create table discovery.presence (
  only_row boolean primary key default true check (only_row),
  seen_at timestamptz not null
);
