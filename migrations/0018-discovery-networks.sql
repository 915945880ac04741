-- Whether anything is published in a network is asked when a search that names one finds nothing: by this index, however many catalogs there are.
create index catalog_networks on discovery.catalog using gin (networks);
