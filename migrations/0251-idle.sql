-- Statements that run every few seconds or minutes without anybody asking (tests/long/idle.test.ts) read these instead of whole tables.

-- What a jump of the clock has left too far ahead (src/storage/crawl/pull-forward.ts).
create index crawl_host_resting on discovery.crawl_host (rest_until) where rest_until is not null;
create index crawl_node_by_due on discovery.crawl_node (due_at) where due_at is not null;
create index crawl_index_by_due on discovery.crawl_index (due_at) where due_at is not null;
create index crawl_target_by_due on discovery.crawl_target (due_at) where due_at is not null;

-- What is deleted after its time (src/housekeeping.ts).
create index receiver_form_until on work.receiver_form (until);
create index record_version_by_time on registry.record_version (recorded_at);

-- The gauges look at subscribers in the order of their next push, and then at those without one.
drop index catalog.push_lane_due;
create index push_lane_due on catalog.push_lane (due_at);
