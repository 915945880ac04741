-- Schema discovery: the catalogs that the discovery service serves, and the index that finds them (docs/index-format.md). The feeds and the crawler that bring the catalogs are in 0005-discovery-sources.sql.

-- Boxes of geometries.
create extension if not exists cube;

create schema if not exists discovery;

-- Catalogs and documents.
--
-- All documents share one space of keys: catalog.key * 2^26 is the catalog itself, its head (with its provider); the next 2^25 - 1 keys are its
-- resources, the 2^25 above them its offers. So every index below is ordered by catalog, a key alone says which catalog it belongs to and of what
-- kind the document is, and all documents of a catalog are a range.

-- A catalog takes the next key; when all are used up, it takes one that another catalog has left.
create sequence discovery.catalog_number;
-- Where the last free key was found.
create sequence discovery.free_catalog_number minvalue 0 start 0;
create function discovery.next_catalog_key() returns bigint language plpgsql as $$
declare
  last constant bigint := 134217727;
  taken bigint := nextval('discovery.catalog_number');
  place bigint;
begin
  if taken <= last then return taken; end if;
  -- Two transactions must not find the same key.
  perform pg_advisory_xact_lock(hashtextextended('keys of catalogs that are free', 0));
  select last_value into place from discovery.free_catalog_number;
  for round in 1..2 loop
    select key + 1 into taken from (
      select place as key where not exists (select from discovery.catalog where key = place)
      union all
      (select key from discovery.catalog as held where key >= place and key < last
         and not exists (select from discovery.catalog as other where other.key = held.key + 1) order by key limit 1)
    ) as before
    where key < last and not exists (select from discovery.catalog as other where other.key = before.key + 1)
    order by key limit 1;
    if taken is not null then
      perform setval('discovery.free_catalog_number', taken);
      return taken;
    end if;
    place := 0;
  end loop;
  raise exception 'the index holds as many catalogs as there are keys';
end $$;

create table discovery.catalog (
  key bigint primary key default discovery.next_catalog_key() check (key < 134217728), -- 2^27
  source text not null,             -- where it came from: 'service:<identity>' of a catalog service, or 'node' if it was crawled
  owner text not null,              -- identity of the provider node that published it
  id text not null,
  type text not null check (type in ('REGULAR', 'MASTER')),
  head json not null,               -- the catalog-level members as they are served, with the provider
  head_digest bigint not null,      -- of the text of the head: writing the same head again changes nothing
  provider_id text not null,        -- '' while only the row exists and no content was applied
  networks text[] not null default '{}', -- empty: every network
  schema_uses jsonb not null,       -- how many resources, offers and considerations use each schema type (context, and context#Type)
  schema_types text[] not null,     -- the names in schema_uses
  is_active boolean not null,
  served boolean not null default true, -- false while it is withdrawn, gone, or the copy of another source is served
  valid_from timestamptz,           -- validity: inclusive bounds; null: no bound
  valid_until timestamptz,
  window_start integer,             -- validity: daily window, milliseconds after midnight UTC; null: the whole day
  window_length integer,            -- in milliseconds
  next_resource integer not null default 1,       -- number of the next resource in its range of keys
  next_offer integer not null default 33554432,   -- number of the next offer, from 2^25
  pushed_at timestamptz,            -- context.timestamp of the last push that was applied
  push_arrived_at timestamptz,      -- when it was applied, by our own clock: an answer to a pull that was sent before is older
  push_merged boolean not null default false, -- it brought only a part of the catalog
  pulled_at timestamptz,            -- when the last pull that brought the catalog was sent
  revision bigint not null default 0, -- counts the changes of a MASTER catalog of a catalog service, which has no version as a crawled one has
  words bytea not null default '',  -- words of the head: five bytes each, the id of the word and its weight
  index_version smallint not null default 0,  -- version of the index entries of its documents (src/search/format/index-format.ts)
  reindexed_below integer not null default 0, -- a rebuild in several transactions: documents with a lower number have entries of reindexed_version
  reindexed_version smallint not null default 0,
  updated_at timestamptz not null
);
alter sequence discovery.catalog_number owned by discovery.catalog.key;
alter sequence discovery.free_catalog_number owned by discovery.catalog.key;
create unique index catalog_of_source_and_owner on discovery.catalog (source, id, owner);
create index catalog_by_id on discovery.catalog (id, owner);
create index catalog_of_owner on discovery.catalog (owner, provider_id);
create index catalog_schema_types on discovery.catalog using gin (schema_types);
create index catalog_networks on discovery.catalog using gin (networks);
create index catalog_masters on discovery.catalog (key) where type = 'MASTER';
create index catalog_by_index_version on discovery.catalog (index_version, key);
-- Three quarters of the numbers are used: the documents get lower numbers, in the same order (src/search/reindex/renumber.ts).
create index catalog_short_of_numbers on discovery.catalog (key) where next_resource > 25165824 or next_offer > 58720256;

create table discovery.resource (
  key bigint primary key,
  catalog_key bigint not null generated always as (key >> 26) stored,
  id text not null,
  document jsonb not null,
  digest bigint not null,           -- of the text of the document: writing the same document again changes nothing
  words bytea not null              -- as in discovery.catalog: the rank of a few resources is computed without reading posting lists
);
create unique index resource_by_id on discovery.resource (id, catalog_key);

create table discovery.offer (
  key bigint primary key,
  catalog_key bigint not null generated always as (key >> 26) stored,
  id text not null,
  owner text not null,              -- as of its catalog
  provider_id text not null,        -- as of its catalog
  resource_ids text[],              -- the resources that it is on; null: all resources of the provider
  document jsonb not null,
  digest bigint not null,           -- of the text of the document
  valid_from timestamptz,           -- validity, as in discovery.catalog
  valid_until timestamptz,
  window_start integer,
  window_length integer,
  is_standing boolean not null default false, -- applies to all resources of its own catalog at any time: its words have separate posting lists
  words bytea                       -- as in discovery.catalog; null in index version 0
);
create unique index offer_by_id on discovery.offer (id, catalog_key);
create index offer_of_owner on discovery.offer (owner, id);
create index offer_of_provider on discovery.offer (owner, provider_id) where resource_ids is null;
-- For filters that ask offers for a value. What is written goes into the index at once: searches would have to read a list of pending entries.
create index offer_by_value on discovery.offer using gin (document jsonb_path_ops) with (fastupdate = off);

-- The resources that offers name.
create table discovery.offer_target (
  owner text not null,              -- of the offer
  resource_id text not null,
  offer_key bigint not null,
  primary key (owner, resource_id, offer_key)
);

-- The index.

-- Posting lists: in which documents a fact, a number or a word occurs. A list is cut into runs of up to some hundred keys, one row each
-- (src/search/lists/runs.ts). A run is written once and never changed: merging runs makes new ones.
create table discovery.run (
  id bigint generated always as identity,
  list bigint not null,             -- number of the list (src/search/lists/runs.ts): facts from 0 upwards; below 0 words, numbers and shared runs
  first double precision not null,  -- lowest key; in lists of numbers, lowest value; in shared runs, lowest list
  last double precision not null,   -- highest of them
  count smallint not null default 1,  -- entries
  weight smallint not null default 0, -- weight of a word at the first key, in hundredths
  bytes bytea,                      -- all entries, encoded; null: the other columns are the only entry
  primary key (list, first, last, id) include (count, weight)
);

-- One row: how far compaction of the posting lists has come (src/search/lists/walk-lists.ts).
create table discovery.compaction (
  id smallint primary key default 1 check (id = 1),
  walked_up_to bigint not null default 0, -- the newest run when the last walk over all lists began, and as many more as that walk wrote
  lease_token uuid,                 -- one process at a time walks
  leased_until timestamptz
);

-- Paths at which some resource has, or had, an object: there, "any child" is more than the elements of an array.
create table discovery.object_path (
  digest uuid primary key           -- MD5 of the path: a member is written as U+0001 and its name, an element as U+0002
);

-- The dictionary.
create table discovery.word (
  id integer generated always as identity primary key,
  word text collate "C" not null unique,
  keys_version smallint not null default 0 -- version of its keys in discovery.deletion
);
-- Keys that find a word in spite of typing errors: hashes of the word with letters deleted.
create table discovery.deletion (
  hash bigint not null,
  word_id integer not null,
  primary key (hash, word_id)
);

-- Paths of geometries in documents.
create table discovery.geometry_path (
  id integer generated always as identity primary key,
  path text not null unique
);
-- The geometries of resources, offers and providers.
create table discovery.geometry (
  key bigint not null,              -- of the document
  path_id integer not null,
  position integer not null,        -- among the geometries of the document, from 0
  shape json not null,              -- GeoJSON
  box cube not null,                -- of the shape on the unit sphere; the fourth dimension is path_id to path_id + 1, so one index serves all paths
  primary key (key, path_id, position)
);
create index geometry_box on discovery.geometry using gist (box);
create index geometry_of_path on discovery.geometry (path_id, key, position);

-- One row: which versions of the index are written and searched (src/search/reindex/index-state.ts).
create table discovery.index_state (
  id smallint primary key default 1 check (id = 1),
  version smallint not null,        -- new catalogs are written in this version, and all others are rebuilt for it
  next smallint not null,           -- searches look for entries of this version, too; it is ahead of version for as long as a search may take
  next_since timestamptz not null default now(),
  lease_token uuid,                 -- one process at a time rebuilds
  leased_until timestamptz
);
insert into discovery.index_state (version, next) values (4, 4);

-- The processes that use the index.
create table discovery.index_process (
  id uuid primary key,
  name text not null,               -- for people: host and process number
  version smallint not null,        -- the newest version of the index that it can read and write
  seen_at timestamptz not null default now()
);

-- The change feed: what each transaction changed in the index. Processes cache parts of the index; before each search they ask here which parts are
-- outdated, by the rows of transactions that their last look did not see (src/search/cache/invalidation.ts). Kept for an hour.
create table discovery.change (
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default clock_timestamp(),
  catalogs bigint[] not null default '{}', -- keys of catalogs of which the row, a document or a geometry was written
  lists bigint[] not null default '{}',    -- posting lists that keys were added to or removed from
  owners text[] not null default '{}',     -- owners of offers that were written
  words text[] default '{}',               -- new words; null: too many to name
  merged bigint[] not null default '{}',   -- posting lists whose runs were merged and that hold the same keys; such a row says nothing else
  everything boolean not null default false -- too much to name
);
create index change_of_transaction on discovery.change (xid);
create index change_by_age on discovery.change (at);

-- Many places write these tables, so triggers note it. A transaction notes a catalog once.
create function discovery.note_catalogs() returns trigger language plpgsql as $$
begin
  insert into discovery.change (catalogs)
  select array_agg(key) from (
    select distinct key from written
    except select unnest(catalogs) from discovery.change where xid = pg_current_xact_id()
  ) as fresh having count(*) > 0;
  return null;
end $$;
create function discovery.note_catalogs_of_keys() returns trigger language plpgsql as $$
begin
  insert into discovery.change (catalogs)
  select array_agg(key) from (
    select distinct key >> 26 as key from written
    except select unnest(catalogs) from discovery.change where xid = pg_current_xact_id()
  ) as fresh having count(*) > 0;
  return null;
end $$;
create function discovery.note_offers() returns trigger language plpgsql as $$
begin
  insert into discovery.change (owners) select array_agg(distinct owner) from written having count(*) > 0;
  return null;
end $$;
create function discovery.note_words() returns trigger language plpgsql as $$
begin
  insert into discovery.change (words) select case when count(*) <= 100 then array_agg(word) end from written having count(*) > 0;
  return null;
end $$;
create function discovery.note_emptied() returns trigger language plpgsql as $$
begin
  insert into discovery.change (everything) values (true);
  return null;
end $$;

create trigger note_added after insert on discovery.catalog referencing new table as written
  for each statement execute function discovery.note_catalogs();
create trigger note_updated after update on discovery.catalog referencing new table as written
  for each statement execute function discovery.note_catalogs();
create trigger note_deleted after delete on discovery.catalog referencing old table as written
  for each statement execute function discovery.note_catalogs();

create trigger note_added after insert on discovery.resource referencing new table as written
  for each statement execute function discovery.note_catalogs_of_keys();
create trigger note_updated after update on discovery.resource referencing new table as written
  for each statement execute function discovery.note_catalogs_of_keys();
create trigger note_deleted after delete on discovery.resource referencing old table as written
  for each statement execute function discovery.note_catalogs_of_keys();

create trigger note_added after insert on discovery.geometry referencing new table as written
  for each statement execute function discovery.note_catalogs_of_keys();
create trigger note_updated after update on discovery.geometry referencing new table as written
  for each statement execute function discovery.note_catalogs_of_keys();
create trigger note_deleted after delete on discovery.geometry referencing old table as written
  for each statement execute function discovery.note_catalogs_of_keys();

create trigger note_added after insert on discovery.offer referencing new table as written
  for each statement execute function discovery.note_offers();
create trigger note_updated after update on discovery.offer referencing new table as written
  for each statement execute function discovery.note_offers();
create trigger note_deleted after delete on discovery.offer referencing old table as written
  for each statement execute function discovery.note_offers();

create trigger note_added after insert on discovery.word referencing new table as written
  for each statement execute function discovery.note_words();
create trigger note_updated after update on discovery.word referencing new table as written
  for each statement execute function discovery.note_words();

create trigger note_updated after update of version, next on discovery.index_state
  for each statement execute function discovery.note_emptied();

-- A table that is emptied by hand is noted as well.
create trigger note_emptied after truncate on discovery.catalog for each statement execute function discovery.note_emptied();
create trigger note_emptied after truncate on discovery.resource for each statement execute function discovery.note_emptied();
create trigger note_emptied after truncate on discovery.offer for each statement execute function discovery.note_emptied();
create trigger note_emptied after truncate on discovery.geometry for each statement execute function discovery.note_emptied();
create trigger note_emptied after truncate on discovery.word for each statement execute function discovery.note_emptied();
create trigger note_emptied after truncate on discovery.run for each statement execute function discovery.note_emptied();
