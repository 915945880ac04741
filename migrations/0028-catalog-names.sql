-- Catalogs are looked up by source and id, and by source, owner and id: one index does for both.
create unique index catalog_of_source_and_owner on discovery.catalog (source, id, owner);
alter table discovery.catalog drop constraint catalog_source_owner_id_key;
drop index discovery.catalog_of_source;
