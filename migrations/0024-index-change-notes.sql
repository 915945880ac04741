-- Processes cache documents, verdicts on them and geometries by catalog. Whoever writes one of these without its catalog's row is told of by the
-- database as well, so that no cache outlives it. A transaction notes a catalog once.

create or replace function discovery.note_catalogs() returns trigger language plpgsql as $$
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
create trigger note_emptied after truncate on discovery.geometry
  for each statement execute function discovery.note_emptied();
