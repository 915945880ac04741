-- Keys of the index that do not run out (src/search/reindex/renumber.ts).

-- Catalogs whose numbers for resources or offers are three quarters used: their documents get lower numbers, in the same order.
create index catalog_short_of_numbers on discovery.catalog (key) where next_resource > 25165824 or next_offer > 58720256;

-- A catalog takes the next key, and when these are used up, one that another catalog has left.
create sequence discovery.catalog_number;
select setval('discovery.catalog_number', last_value, is_called) from discovery.catalog_key_seq;
-- Where the last free one was found.
create sequence discovery.free_catalog_number minvalue 0 start 0;
create function discovery.next_catalog_key() returns bigint language plpgsql as $$
declare
  last constant bigint := 134217727;
  taken bigint := nextval('discovery.catalog_number');
  place bigint;
begin
  if taken <= last then return taken; end if;
  -- Two transactions must not find the same one.
  perform pg_advisory_xact_lock(hashtextextended('keys of catalogs that are free', 0));
  select last_value into place from discovery.free_catalog_number;
  for round in 1..2 loop
    select key + 1 into taken from (
      select place as key where not exists (select from discovery.catalog where key = place)
      union all
      (select key from discovery.catalog as held where key >= place and key < last
         and not exists (select from discovery.catalog as other where other.key = held.key + 1) order by key limit 1)
    ) as before
    where key < last and not exists (select from discovery.catalog as other where other.key = before.key + 1)
    order by key limit 1;
    if taken is not null then
      perform setval('discovery.free_catalog_number', taken);
      return taken;
    end if;
    place := 0;
  end loop;
  raise exception 'the index holds as many catalogs as there are keys';
end $$;
alter table discovery.catalog alter column key drop identity;
alter table discovery.catalog alter column key set default discovery.next_catalog_key();
alter sequence discovery.catalog_number owned by discovery.catalog.key;
alter sequence discovery.free_catalog_number owned by discovery.catalog.key;
