-- SHA-256 of an index as it was served last: hosts that know no conditional requests serve the same bytes over and over.
alter table discovery.crawl_index add column served_digest text;
