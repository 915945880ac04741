-- Catalogs of which it is to be settled whose copy counts, because more of them changed in one transaction than it could lock (src/storage/feeds/precedence.ts).
create table discovery.unsettled (
  number bigint generated always as identity primary key,
  owner text not null,
  id text not null
);
