-- Names that somebody gave a crawl hint for and nobody had named before: each is looked up in the registry, so only so many a minute are, by all
-- processes together.
create table discovery.crawl_stranger (
  node text primary key,
  asked_at timestamptz not null
);
