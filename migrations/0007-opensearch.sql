-- Schema discovery: the progress of an index in OpenSearch (src/search/opensearch/). Without SEARCH_INDEX=opensearch, the tables stay empty.

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
  since timestamptz not null
);
create index external_change_by_age on discovery.external_change (since);
