-- What resources inherit: a template is stored once for each catalog that inherits it, however many of its resources do, and its bytes are
-- counted for each of them.

-- Templates as the resources of a catalog inherited them last. They are kept, because the master may change or drop them.
create table catalog.inherited (
  catalog_key bigint not null,
  master_key bigint not null,
  master_resource_id text not null,
  -- Version of the MASTER catalog in which the template changed last.
  edition bigint not null,
  -- Of the JSON text.
  bytes integer not null,
  -- Resources of the catalog that inherit it.
  uses integer not null,
  template json not null,
  primary key (catalog_key, master_key, master_resource_id, edition)
);
alter table catalog.resource
  drop column inherited,
  -- What it inherited last.
  add column edition bigint,
  -- Of the JSON text of a template.
  add column template_bytes integer;
alter table catalog.catalog add column inherited_bytes bigint not null default 0;
create index catalog_inherits on catalog.catalog (owner, inherited_bytes) where inherited_bytes > 0;
-- What this catalog of a publish inherits, or would have inherited.
alter table catalog.submission_result add column inherited_bytes bigint not null default 0;

-- The same of crawled catalogs. The edition is the digest of the template.
create table discovery.crawl_inherited (
  target_id bigint not null references discovery.crawl_target on delete cascade,
  master_key bigint not null,
  master_resource_id text not null,
  edition bigint not null,
  bytes integer not null,
  uses integer not null,
  template json not null,
  primary key (target_id, master_key, master_resource_id, edition)
);
alter table discovery.crawl_extension drop column inherited, add column edition bigint not null;
alter table discovery.crawl_target add column inherited_bytes bigint not null default 0;
