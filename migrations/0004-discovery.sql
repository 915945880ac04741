-- Schema discovery: the catalogs of the discovery service, and the index that finds them (docs/index-format.md). The feeds and the crawler that bring
-- the catalogs are in 0005-discovery-sources.sql.

-- Boxes of geometries.
create extension if not exists cube;

create schema if not exists discovery;

-- Catalogs and documents.
--
-- All documents share one key space: catalog.key * 2^26 is the catalog itself, its head (with its provider); the next 2^25 - 1 keys are its
-- resources, the 2^25 above them its offers. So every index below is sorted by catalog, a key alone identifies the catalog and the kind of the
-- document, and all documents of a catalog are a range.

-- A catalog gets the next key; when all are used up, it gets the key of a removed catalog.
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
  -- Two transactions must not find the same free key.
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

-- The catalogs of all sources. If several sources have the same catalog, one copy is served.
create table discovery.catalog (
  key bigint primary key default discovery.next_catalog_key() check (key < 134217728), -- 2^27
  source text not null,             -- its source: 'service:<identity>' of a catalog service, or 'node' if it was crawled
  owner text not null,              -- identity of the provider node that published it
  id text not null,
  type text not null check (type in ('REGULAR', 'MASTER')),
  head json not null,               -- the catalog-level members as served, with the provider
  head_digest bigint not null,      -- of the text of the head: writing the same head again changes nothing
  provider_id text not null,        -- '' while the row has no content yet
  networks text[] not null default '{}', -- empty: every network
  schema_uses jsonb not null,       -- how many resources, offers and considerations use each schema type (context, and context#Type)
  schema_types text[] not null,     -- the names in schema_uses
  is_active boolean not null,       -- isActive; true if the catalog has none
  served boolean not null default true, -- false while it is withdrawn, gone, or the copy of another source is served
  valid_from timestamptz,           -- validity: inclusive bounds; null: no bound
  valid_until timestamptz,
  window_start integer,             -- validity: daily window, milliseconds after midnight UTC; null: the whole day
  window_length integer,            -- in milliseconds
  next_resource integer not null default 1,       -- number of the next resource in its range of keys; past the last one: the lowest free number (src/search/write/plan-steps.ts)
  next_offer integer not null default 33554432,   -- number of the next offer, from 2^25
  pushed_at timestamptz,            -- context.timestamp of the last push that was applied
  push_arrived_at timestamptz,      -- when it was applied, by our own clock: an answer to an earlier pull is older
  push_merged boolean not null default false, -- it contained only a part of the catalog
  pulled_at timestamptz,            -- when the last pull with this catalog was sent
  revision bigint not null default 0, -- counts the changes of a MASTER catalog of a catalog service, which unlike a crawled one has no version
  generation integer not null default 1, -- the newest generation of the index with its documents (src/search/generations)
  updated_at timestamptz not null,  -- last write of its content
  operator text generated always as (left(lower(btrim(head #>> '{provider,descriptor,name}')), 200)) stored -- to find charging stations that several nodes publish
);
alter sequence discovery.catalog_number owned by discovery.catalog.key;
alter sequence discovery.free_catalog_number owned by discovery.catalog.key;
create unique index catalog_of_source_and_owner on discovery.catalog (source, id, owner);
create index catalog_by_id on discovery.catalog (id, owner);
create index catalog_of_owner on discovery.catalog (owner, provider_id);
create index catalog_schema_types on discovery.catalog using gin (schema_types);
create index catalog_networks on discovery.catalog using gin (networks);
create index catalog_masters on discovery.catalog (key) where type = 'MASTER';
create index catalog_by_generation on discovery.catalog (generation, key);
create index catalog_of_operator on discovery.catalog (operator, owner);

-- The resources of these catalogs, as served.
create table discovery.resource (
  key bigint primary key,
  catalog_key bigint not null generated always as (key >> 26) stored,
  id text not null,
  document jsonb not null,
  digest bigint not null,           -- of the text of the document: writing the same document again changes nothing
  evse text generated always as (   -- EVSE id of a charger, without separators, to find chargers that several nodes publish; null: none, or too long for one
    case when length(document #>> '{resourceAttributes,attributes,evseId}') <= 64
      then translate(upper(document #>> '{resourceAttributes,attributes,evseId}'), '*- ', '') end
  ) stored
);
create unique index resource_by_id on discovery.resource (id, catalog_key);
create index resource_by_evse on discovery.resource (evse, catalog_key) where evse is not null;

-- The offers of these catalogs, as served.
create table discovery.offer (
  key bigint primary key,
  catalog_key bigint not null generated always as (key >> 26) stored,
  id text not null,
  owner text not null,              -- as in its catalog
  provider_id text not null,        -- as in its catalog
  resource_ids text[],              -- the resources that it applies to; null: all resources of the provider
  document jsonb not null,
  digest bigint not null,           -- of the text of the document
  valid_from timestamptz,           -- validity, as in discovery.catalog
  valid_until timestamptz,
  window_start integer,
  window_length integer
);
create unique index offer_by_id on discovery.offer (id, catalog_key);
create index offer_of_owner on discovery.offer (owner, id);
create index offer_of_provider on discovery.offer (owner, provider_id) where resource_ids is null;

-- The resources that offers name.
create table discovery.offer_target (
  owner text not null,              -- of the offer
  resource_id text not null,
  offer_key bigint not null,
  primary key (owner, resource_id, offer_key)
);

-- The index, in generations (src/search/generations). Each has a schema with its tables, so that it can be dropped as a whole. Usually there is one.
-- A later version of the code that makes entries builds another generation beside the one in use.

-- Numbers of runs, across all generations: processes cache runs by number, so numbers are never reused.
create sequence discovery.run_number;

create function discovery.create_index(name text) returns void language plpgsql as $$
begin
  execute format($sql$
    create schema %1$I;

    -- Lists of keys: the documents with a fact or a word, and the number of each document under a path. A list is split into runs of up to some
    -- hundred entries, one row each (src/search/lists/runs.ts). A run never changes: merging runs makes new ones.
    create table %1$I.run (
      id bigint not null default nextval('discovery.run_number'),
      list bigint not null,             -- number of the list (src/search/lists/list-numbers.ts)
      first double precision not null,  -- lowest key; in shared runs, lowest list
      last double precision not null,   -- highest of them
      count smallint not null,          -- entries
      bytes bytea not null,             -- all entries, encoded
      primary key (list, first, last, id) include (count)
    );

    -- One row: the progress of the compaction of lists (src/search/upkeep/walk-lists.ts).
    create table %1$I.compaction (
      id smallint primary key default 1 check (id = 1),
      walked_up_to bigint not null default 0, -- the newest run at the start of the last walk over all lists, plus the number of runs that the walk wrote
      lease_token uuid,                 -- one process at a time walks
      leased_until timestamptz
    );
    insert into %1$I.compaction default values;

    -- Paths where some document has, or had, an object: there, "any child" means more than the elements of an array.
    create table %1$I.object_path (
      digest uuid primary key           -- MD5 of the path (src/search/entries/attributes.ts)
    );

    -- The dictionary.
    create table %1$I.word (
      id integer generated always as identity primary key,
      word text collate "C" not null unique
    );
    -- Keys that find a word despite typing errors: hashes of the word with letters deleted.
    create table %1$I.deletion (
      hash bigint not null,
      word_id integer not null,
      primary key (hash, word_id)
    );

    -- Paths of geometries in documents.
    create table %1$I.geometry_path (
      id integer generated always as identity primary key,
      path text not null unique     -- as in the targets of an intent
    );
    -- The geometries of resources, offers and providers.
    create table %1$I.geometry (
      key bigint not null,              -- of the document
      path_id integer not null,
      position integer not null,        -- among the geometries of the document, from 0
      shape json not null,              -- GeoJSON
      box cube not null,                -- of the shape on the unit sphere; the fourth dimension is path_id to path_id + 1, so one index serves all paths
      primary key (key, path_id, position)
    );
    create index geometry_box on %1$I.geometry using gist (box) include (key);
    create index geometry_of_path on %1$I.geometry (path_id, key, position);

    -- Reports changes of these tables to the change feed.
    create trigger note_added after insert on %1$I.word referencing new table as written
      for each statement execute function discovery.note_words();
    create trigger note_emptied after truncate on %1$I.geometry for each statement execute function discovery.note_emptied();
    create trigger note_emptied after truncate on %1$I.word for each statement execute function discovery.note_emptied();
    create trigger note_emptied after truncate on %1$I.run for each statement execute function discovery.note_emptied();
  $sql$, name);
end $$;

-- The generations and their states.
create table discovery.generation (
  number integer primary key,       -- its schema is index_<number>
  version smallint not null,        -- of the code that makes its entries (src/search/entries/index-format.ts)
  state text not null check (state in ('building', 'in use', 'retired')), -- searches read the one in use; writers write that and the one being built; a retired one is dropped soon
  since timestamptz not null default now(), -- start of this state
  lease_token uuid,                 -- one process at a time builds
  leased_until timestamptz
);
create unique index generation_of_state on discovery.generation (state) where state <> 'retired';

-- The processes that use the index.
create table discovery.index_process (
  id uuid primary key,
  name text not null,               -- for people: host and process number
  version smallint not null,        -- the newest version of entries that it can read and write
  seen_at timestamptz not null default now() -- last heartbeat
);

-- The change feed: what each transaction changed in the index. Processes cache parts of the index; before each search they read here which parts are
-- outdated, from the rows of transactions that their last read did not see (src/search/cache/invalidation.ts). Kept for an hour.
create table discovery.change (
  xid xid8 not null default pg_current_xact_id(), -- the transaction
  at timestamptz not null default clock_timestamp(),
  catalogs bigint[] not null default '{}', -- keys of catalogs whose row or documents were written
  lists bigint[] not null default '{}',    -- lists with added or removed entries
  words boolean not null default false,    -- the generation in use got new words
  merged bigint[] not null default '{}',   -- lists whose runs were merged without a change of entries; such a row contains nothing else
  everything boolean not null default false -- too many changes to list
);
create index change_of_transaction on discovery.change (xid);
create index change_by_age on discovery.change (at);

-- Triggers note the changes, because many places write these tables. A transaction notes a catalog once.
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
create function discovery.note_words() returns trigger language plpgsql as $$
begin
  insert into discovery.change (words) select true from discovery.generation
  where state = 'in use' and tg_table_schema = 'index_' || number and exists (select from written);
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

create trigger note_added after insert on discovery.offer referencing new table as written
  for each statement execute function discovery.note_catalogs_of_keys();
create trigger note_updated after update on discovery.offer referencing new table as written
  for each statement execute function discovery.note_catalogs_of_keys();
create trigger note_deleted after delete on discovery.offer referencing old table as written
  for each statement execute function discovery.note_catalogs_of_keys();

create trigger note_updated after insert or update of state on discovery.generation
  for each statement execute function discovery.note_emptied();

-- Also notes a table that is emptied by hand.
create trigger note_emptied after truncate on discovery.catalog for each statement execute function discovery.note_emptied();
create trigger note_emptied after truncate on discovery.resource for each statement execute function discovery.note_emptied();
create trigger note_emptied after truncate on discovery.offer for each statement execute function discovery.note_emptied();

-- The progress of an index in OpenSearch (src/search/opensearch/). Without SEARCH_INDEX=opensearch, these tables stay empty.

-- One row. The process that feeds the index locks it, so only one does.
create table discovery.external_index (
  id smallint primary key default 1 check (id = 1),
  name text,                        -- the index for searches; null while the first one is built
  building text,                    -- another index, being built
  walked_up_to bigint,              -- all documents are compared with the index that is being built, or else with the one for searches, up to this key; null: no comparison
  version bigint not null default 0, -- of the last changes that were sent: milliseconds since 1970, always rising; OpenSearch keeps the highest version of a document
  snapshot text,                    -- the transactions whose changes are in external_change or in the index
  server text,                      -- the server where that snapshot is valid (src/storage/freshness.ts)
  fed_at timestamptz,               -- when the change feed was last read; it is kept for an hour
  replaces_lists boolean not null default true, -- the lists of the index in PostgreSQL are retired once no process reads them
  walk_since timestamptz            -- since when the index for searches lacks unknown changes
);

-- Catalogs that have changed since they were sent.
create table discovery.external_change (
  catalog_key bigint primary key,
  since timestamptz not null        -- time of the oldest unsent change
);
create index external_change_by_age on discovery.external_change (since);

-- The first generation.
select discovery.create_index('index_1');
insert into discovery.generation (number, version, state) values (1, 1, 'in use');
