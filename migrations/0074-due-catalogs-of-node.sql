-- When the next catalog of a node is due, however many it has.
create index crawl_target_due_of_node on discovery.crawl_target (node_id, due_at) where due_at is not null and index_id is not null;
