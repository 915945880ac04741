-- What an operator names by its id alone: a catalog of the index, or one that is crawled, however many others there are.
create index catalog_by_id on discovery.catalog (id, owner);
create index crawl_target_by_catalog on discovery.crawl_target (catalog_id);
