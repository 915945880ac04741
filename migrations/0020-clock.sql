-- Due times are the database's, and a lease that lasts longer than any can is cut (src/storage/work/pull-forward.ts): they are looked for often, and few
-- rows are leased.
create index lane_in_work on catalog.lane (leased_until) where leased_until is not null;
create index rebuild_in_work on catalog.rebuild (leased_until) where leased_until is not null;
create index push_lane_in_work on catalog.push_lane (leased_until) where leased_until is not null;
create index pull_in_work on catalog.pull (leased_until) where leased_until is not null;
create index feed_in_work on discovery.feed (leased_until) where leased_until is not null;
create index crawl_source_in_work on discovery.crawl_source (leased_until) where leased_until is not null;
create index crawl_host_in_work on discovery.crawl_host (leased_until) where leased_until is not null;
create index crawl_rebuild_in_work on discovery.crawl_rebuild (leased_until) where leased_until is not null;

-- Until when the receiver asked not to be tried again (Retry-After): not even a new version makes the push due before.
alter table catalog.push add column rest_until timestamptz;
