-- An index that can be rebuilt: which version of the code made the entries of a catalog, and which entries a document has (src/search/format/).

-- Rows from before this migration have version 0, whose entries were not stored beside the documents.
alter table discovery.catalog
  add column index_version smallint not null default 0,
  -- A large catalog is rebuilt in several transactions: documents with a number below this one have entries of the other version already.
  add column reindexed_below integer not null default 0,
  add column reindexed_version smallint not null default 0;
create index catalog_by_index_version on discovery.catalog (index_version, key);

-- The posting lists that a resource stands in, apart from those of its words: what leaves the index is what is stored here, whichever code reads it. Null: not stored.
alter table discovery.resource add column entries bytea;
alter table discovery.offer add column words bytea;

-- The version of the keys that forgive typing errors in a word.
alter table discovery.word add column keys_version smallint not null default 0;
create trigger note_updated after update on discovery.word referencing new table as written
  for each statement execute function discovery.note_words();

-- One row: where the index stands between two versions.
create table discovery.index_state (
  id smallint primary key default 1 check (id = 1),
  -- New catalogs are written in this version, and all others are brought to it.
  version smallint not null,
  -- Searches look for entries of this version, too. It is ahead of the other one for as long as a search may take.
  next smallint not null,
  next_since timestamptz not null default now(),
  -- One process at a time rebuilds.
  lease_token uuid,
  leased_until timestamptz
);
-- An empty index has nothing of version 0 in it.
insert into discovery.index_state (version, next)
select version, version from (select case when exists (select from discovery.catalog) then 0 else 1 end as version) as first;
create trigger note_updated after update of version, next on discovery.index_state
  for each statement execute function discovery.note_emptied();

-- The processes that use the index, and the newest version that each of them knows.
create table discovery.index_process (
  id uuid primary key,
  name text not null,
  version smallint not null,
  seen_at timestamptz not null default now()
);
