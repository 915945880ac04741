-- How far compaction of the posting lists has come (src/search/lists/compact.ts): one row.
create table discovery.compaction (
  id smallint primary key default 1 check (id = 1),
  -- The number of the newest run when the last walk over all lists began, and as many more as that walk wrote.
  walked_up_to bigint not null default 0,
  -- One process at a time walks.
  lease_token uuid,
  leased_until timestamptz
);
