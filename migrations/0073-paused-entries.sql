-- The entries of catalogs that are paused, which are few: how the crawl stands is told without parsing the document of every entry.
create index crawl_entry_paused on discovery.crawl_entry (index_id, catalog_id) where document ->> 'isActive' = 'false';
