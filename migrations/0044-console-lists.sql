-- Lists of the console: catalogs of one network, and MASTER catalogs of the index, however many others there are.
create index catalog_visible_to on catalog.catalog using gin (visible_to);
create index catalog_masters on discovery.catalog (key) where type = 'MASTER';
