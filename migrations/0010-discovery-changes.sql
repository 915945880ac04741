-- What changed in the discovery index, by transaction. Processes keep parts of the index in memory; before each search they ask here which of
-- them are outdated: rows of transactions that their last look did not see (src/storage/index-memory.ts). Kept for an hour.
create table discovery.change (
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default clock_timestamp(),
  -- Keys of catalogs whose rows were written.
  catalogs bigint[] not null default '{}',
  -- Lists that keys came into or went out of.
  lists bigint[] not null default '{}',
  -- So much that it is not named.
  everything boolean not null default false
);
create index change_of_transaction on discovery.change (xid);
create index change_by_age on discovery.change (at);

-- Many places write catalogs, and none may be forgotten.
create function discovery.note_catalogs() returns trigger language plpgsql as $$
begin
  insert into discovery.change (catalogs) select array_agg(key) from written having count(*) > 0;
  return null;
end $$;
create trigger note_added after insert on discovery.catalog referencing new table as written
  for each statement execute function discovery.note_catalogs();
create trigger note_updated after update on discovery.catalog referencing new table as written
  for each statement execute function discovery.note_catalogs();
create trigger note_deleted after delete on discovery.catalog referencing old table as written
  for each statement execute function discovery.note_catalogs();

-- Nor may whoever empties a table by hand.
create function discovery.note_emptied() returns trigger language plpgsql as $$
begin
  insert into discovery.change (everything) values (true);
  return null;
end $$;
create trigger note_emptied after truncate on discovery.catalog
  for each statement execute function discovery.note_emptied();
create trigger note_emptied after truncate on discovery.run
  for each statement execute function discovery.note_emptied();
