-- Schema discovery: how far an index in OpenSearch has come (src/search/opensearch/). Without SEARCH_INDEX=opensearch the tables stay empty.

-- One row. Whoever feeds the index locks it, so one process at a time does.
create table discovery.external_index (
  id smallint primary key default 1 check (id = 1),
  name text,                        -- the index that is searched; null while the first one is built
  building text,                    -- another one that is being built
  walked_up_to bigint,              -- all documents are compared with the index that is built, or else with the one that is searched: up to this key; null: nothing is to be compared
  version bigint not null default 0, -- counts what was sent: OpenSearch keeps the highest version of a document
  snapshot text,                    -- the transactions whose changes are in external_change or in the index
  server text,                      -- where that snapshot means something (src/storage/freshness.ts)
  fed_at timestamptz,               -- when the change feed was read; it is kept for an hour
  replaces_lists boolean not null default true, -- the lists of the index in PostgreSQL are retired when no process reads them
  walk_since timestamptz            -- since when the index that is searched lacks something unknown
);

-- Catalogs that have changed since they were sent.
create table discovery.external_change (
  catalog_key bigint primary key,
  since timestamptz not null
);
create index external_change_by_age on discovery.external_change (since);
