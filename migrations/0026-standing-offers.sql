-- Standing offers: those that apply to all resources of their own catalog at any time. Their words have posting lists of their own (src/search/format/index-format.ts, version 2).
alter table discovery.offer add column is_standing boolean not null default false;

-- An empty index that no process uses begins with them.
update discovery.index_state set version = 2, next = 2
where not exists (select from discovery.catalog) and not exists (select from discovery.index_process);
