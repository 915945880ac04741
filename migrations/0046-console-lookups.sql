-- What an operator names by its id alone: a catalog of the index, or one that is crawled, however many others there are.
create index catalog_by_id on discovery.catalog (id, owner);
create index crawl_target_by_catalog on discovery.crawl_target (catalog_id);

-- What fails of the crawl, which is little of it.
create index crawl_node_failing on discovery.crawl_node (id) where failures > 0;
create index crawl_index_failing on discovery.crawl_index (node_id) where failures > 0;
create index crawl_target_failing on discovery.crawl_target (node_id) where failures > 0;
