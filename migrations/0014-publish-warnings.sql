-- What a publisher should know of a publish although it is no error (src/catalog/find-warnings.ts): kept with the result, for the operator, and
-- for on_publish where PUBLISH_WARNINGS is set.
alter table catalog.submission_result add column warnings json;
-- For `signpost catalog show`: the latest results of one catalog.
create index submission_result_of_catalog on catalog.submission_result (catalog_id, submission_id);

-- The networks of the publisher, as the registry record says that the request was verified with.
alter table catalog.submission add column network_memberships text[] not null default '{}';

-- To find the catalogs of a publisher that may hold what its offers name.
create index catalog_of_owner on catalog.catalog (owner);
