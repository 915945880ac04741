-- Processes remember documents of resources with the offers on them, and what words stand for (src/storage/index-memory.ts): they are told, too,
-- whose offers were written and which words are new. And whoever knows a list need not read it again because its runs were put together.
alter table discovery.change
  add column owners text[] not null default '{}',
  -- Null: more than are named.
  add column words text[] default '{}',
  -- Lists whose runs were put together, and which hold the same keys. Such a row tells nothing else.
  add column merged bigint[] not null default '{}';

create function discovery.note_offers() returns trigger language plpgsql as $$
begin
  insert into discovery.change (owners) select array_agg(distinct owner) from written having count(*) > 0;
  return null;
end $$;
create trigger note_added after insert on discovery.offer referencing new table as written
  for each statement execute function discovery.note_offers();
create trigger note_updated after update on discovery.offer referencing new table as written
  for each statement execute function discovery.note_offers();
create trigger note_deleted after delete on discovery.offer referencing old table as written
  for each statement execute function discovery.note_offers();

create function discovery.note_words() returns trigger language plpgsql as $$
begin
  insert into discovery.change (words) select case when count(*) <= 100 then array_agg(word) end from written having count(*) > 0;
  return null;
end $$;
create trigger note_added after insert on discovery.word referencing new table as written
  for each statement execute function discovery.note_words();

create trigger note_emptied after truncate on discovery.resource
  for each statement execute function discovery.note_emptied();
create trigger note_emptied after truncate on discovery.offer
  for each statement execute function discovery.note_emptied();
create trigger note_emptied after truncate on discovery.word
  for each statement execute function discovery.note_emptied();
