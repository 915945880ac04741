-- Since version 4 of the index it is written which catalogs have offers that may apply to resources of other catalogs (src/search/write/reach.ts).
-- An empty index that no process uses begins with it.
update discovery.index_state set version = 4, next = 4
where not exists (select from discovery.catalog) and not exists (select from discovery.index_process);
