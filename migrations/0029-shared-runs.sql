-- Shared runs: facts that few documents have stand together (src/search/lists/shared-runs.ts; version 3 of src/search/format/index-format.ts). Their lists, from -2^51 - 1 downwards, are kept as
-- those of numbers are: `first` and `last` are the lowest and the highest number of a list in them.

-- An empty index that no process uses begins with them.
update discovery.index_state set version = 3, next = 3
where not exists (select from discovery.catalog) and not exists (select from discovery.index_process);

-- Facts and numbers that leave the index are made anew by the format of their catalog. Programs of before this migration do so where nothing is stored here.
comment on column discovery.resource.entries is 'not used any more';
