-- The discovery service: the catalogs that it holds, and what finds them.
--
-- Everything has a place in one space of keys: catalog.key * 2^26 is the catalog itself (and its provider), the next 2^25 - 1 are its
-- resources, the 2^25 above them its offers. So every index below is ordered by catalog, a key alone says which catalog it belongs
-- to and of what kind it is, and all that belongs to a catalog is a range.

create extension if not exists cube;

create schema if not exists discovery;

create table discovery.catalog (
  key bigint generated always as identity primary key check (key < 134217728),
  -- Where it came from: 'service:<identity>' of a catalog service, 'node' when it was crawled.
  source text not null,
  -- Identity of the provider node that published it.
  owner text not null,
  id text not null,
  type text not null check (type in ('REGULAR', 'MASTER')),
  -- The catalog-level members as they are served, provider included.
  head json not null,
  head_digest bigint not null,
  provider_id text not null,
  -- None: every network.
  networks text[] not null default '{}',
  -- How many resources, offers and considerations use each schema type (context, and context#Type).
  schema_uses jsonb not null,
  schema_types text[] not null,
  is_active boolean not null,
  -- False while it is withdrawn, gone, or another source's copy counts.
  served boolean not null default true,
  -- Its validity: bounds, inclusive, and the daily window, in milliseconds from midnight UTC.
  valid_from timestamptz,
  valid_until timestamptz,
  window_start integer,
  window_length integer,
  next_resource integer not null default 1,
  next_offer integer not null default 33554432,
  -- context.timestamp of the last push that was applied; when the last pull that brought it was sent; complete pulls without it.
  pushed_at timestamptz,
  pulled_at timestamptz,
  missing_pulls integer not null default 0,
  updated_at timestamptz not null,
  unique (source, owner, id)
);
create index catalog_of_owner on discovery.catalog (owner, provider_id);
create index catalog_schema_types on discovery.catalog using gin (schema_types);

create table discovery.resource (
  key bigint primary key,
  catalog_key bigint not null generated always as (key >> 26) stored,
  id text not null,
  document jsonb not null,
  -- Of the text of the document: the same again touches nothing.
  digest bigint not null
);
create unique index resource_by_id on discovery.resource (id, catalog_key);

create table discovery.offer (
  key bigint primary key,
  catalog_key bigint not null generated always as (key >> 26) stored,
  id text not null,
  owner text not null,
  provider_id text not null,
  -- Null: all resources of the provider.
  resource_ids text[],
  document jsonb not null,
  digest bigint not null,
  valid_from timestamptz,
  valid_until timestamptz,
  window_start integer,
  window_length integer
);
create unique index offer_by_id on discovery.offer (id, catalog_key);
create index offer_of_owner on discovery.offer (owner, id);
create index offer_of_provider on discovery.offer (owner, provider_id) where resource_ids is null;
create table discovery.offer_target (
  owner text not null,
  resource_id text not null,
  offer_key bigint not null,
  primary key (owner, resource_id, offer_key)
);

-- What filters are answered from, in the order of keys or of values: hashes of (path, text or literal), and numbers under their path.
create table discovery.fact (
  hash bigint not null,
  key bigint not null,
  primary key (hash, key)
);
create table discovery.number (
  path bigint not null,
  value double precision not null,
  key bigint not null,
  primary key (path, value, key)
);

-- Geometries with the path they were found under, at the level where they stand. The box is that of the shape on the unit sphere, in a
-- fourth dimension the number of the path, so that one index serves all paths.
create table discovery.geometry_path (
  id integer generated always as identity primary key,
  path text not null unique
);
create table discovery.geometry (
  key bigint not null,
  path_id integer not null,
  position integer not null,
  shape json not null,
  box cube not null,
  primary key (key, path_id, position)
);
create index geometry_box on discovery.geometry using gist (box);
create index geometry_of_path on discovery.geometry (path_id, key, position);

-- The distinct words, their deletions (for typing errors), and where each word stands.
create table discovery.word (
  id integer generated always as identity primary key,
  word text collate "C" not null unique
);
create table discovery.deletion (
  hash bigint not null,
  word_id integer not null,
  primary key (hash, word_id)
);
create table discovery.posting (
  word_id integer not null,
  key bigint not null,
  -- How much it counts there, by field and level, in hundredths.
  weight smallint not null,
  primary key (word_id, key) include (weight)
);
-- The resources of an offer are known only at query time.
create table discovery.offer_posting (
  word_id integer not null,
  key bigint not null,
  weight smallint not null,
  primary key (word_id, key) include (weight)
);
