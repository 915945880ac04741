-- The triggers of 0040-opensearch.sql again, with one function. A trigger gives it a query for the keys of the resources that its statement changed; the head of a catalog stands for all its resources.
drop function discovery.note_added_or_deleted_resources() cascade;
drop function discovery.note_changed_resources() cascade;
drop function discovery.note_documents_of_offers() cascade;
drop function discovery.note_documents_of_changed_offers() cascade;
drop function discovery.note_documents_of_heads() cascade;
drop function discovery.note_documents_of_changed_heads() cascade;
drop function discovery.note_documents(bigint[]);
drop function discovery.is_followed();

create function discovery.note_documents() returns trigger language plpgsql as $$
declare
  changed bigint[];
begin
  -- Without an index that follows, nothing is noted.
  if exists (select from discovery.opensearch_index) then
    execute 'select array_agg(distinct key) from (' || tg_argv[0] || ') as touched' into changed;
    if changed is not null then
      insert into discovery.document_change (keys) values (changed);
    end if;
  end if;
  return null;
end $$;

create trigger note_documents_added after insert on discovery.resource referencing new table as written
  for each statement execute function discovery.note_documents('select key from written');
create trigger note_documents_deleted after delete on discovery.resource referencing old table as before
  for each statement execute function discovery.note_documents('select key from before');
create trigger note_documents_updated after update on discovery.resource referencing old table as before new table as written
  for each statement execute function discovery.note_documents('select key from before union all select key from written');

-- The words of an offer stand in the resources of its catalog that it is on.
create function discovery.resources_of_offer(offer_key bigint, resource_ids text[]) returns setof bigint language sql stable as $$
  select offer_key >> 26 << 26 where resource_ids is null
  union all
  select key from discovery.resource where catalog_key = offer_key >> 26 and id = any (resource_ids)
$$;
create trigger note_documents_added after insert on discovery.offer referencing new table as written
  for each statement execute function discovery.note_documents('select discovery.resources_of_offer(key, resource_ids) as key from written');
create trigger note_documents_deleted after delete on discovery.offer referencing old table as before
  for each statement execute function discovery.note_documents('select discovery.resources_of_offer(key, resource_ids) as key from before');
create trigger note_documents_updated after update on discovery.offer referencing old table as before new table as written
  for each statement execute function discovery.note_documents(
    'select discovery.resources_of_offer(key, resource_ids) as key from (select * from before union all select * from written) as offer');

-- So do the words, the networks and the geometries of a catalog and its provider. Those of a catalog that comes or goes are told by its resources, which come or go with it.
create trigger note_documents_updated after update on discovery.catalog referencing old table as before new table as written
  for each statement execute function discovery.note_documents(
    'select written.key << 26 as key from written left join before using (key)
     where (written.head_digest, written.networks, written.words) is distinct from (before.head_digest, before.networks, before.words)');
