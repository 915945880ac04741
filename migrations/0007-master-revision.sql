-- A crawled MASTER catalog has the version that its files say. One that a catalog service brought says none: its changes are counted here, so that crawled
-- catalogs that extend it are found when they were assembled with an older one.
alter table discovery.catalog add column revision bigint not null default 0;
