-- The trace of the publish that changed a catalog last (see 0070): pushes, which are computed from the catalog, go on with it.
alter table catalog.catalog add column traceparent text;
