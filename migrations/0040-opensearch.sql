-- OpenSearch as a second index (adr/0013): which indexes follow the documents, and what each still has to be told.

create table discovery.opensearch_index (
  -- As OpenSearch knows it.
  name text primary key,
  -- The format of its entries (src/search/format/index-format.ts).
  version smallint not null,
  -- Searches ask this one of its version; the others are being built.
  is_current boolean not null default false,
  -- The server and the tables that the numbers of transactions are of.
  origin text not null,
  -- Transactions below this one may have noted nothing for it: they may have begun before this row was committed.
  noted_from xid8,
  -- The watermark: what is committed in this snapshot is in the index, as far as it is built. Null: the build has not begun.
  snapshot pg_snapshot,
  -- Documents up to this key are in it; null: all.
  built_up_to bigint default 0,
  documents bigint not null default 0,
  -- A fencing token, the version of what is written next: a follower that has lost its lease has a lower one.
  epoch bigint not null default 0,
  lease_token uuid,
  leased_until timestamptz,
  -- What kept the follower from going on, in words.
  problem text
);
create unique index opensearch_index_current on discovery.opensearch_index (version) where is_current;

-- Keys of resources that a transaction changed; the head of a catalog stands for all its resources.
create table discovery.document_change (
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default clock_timestamp(),
  keys bigint[] not null
);
create index document_change_of_transaction on discovery.document_change (xid);

create function discovery.note_documents(changed bigint[]) returns void language sql as $$
  insert into discovery.document_change (keys) select changed where changed is not null;
$$;

-- Without an index that follows, nothing is noted.
create function discovery.is_followed() returns boolean language sql stable as $$
  select exists (select from discovery.opensearch_index);
$$;

create function discovery.note_added_or_deleted_resources() returns trigger language plpgsql as $$
begin
  if discovery.is_followed() then perform discovery.note_documents((select array_agg(key) from written)); end if;
  return null;
end $$;
create function discovery.note_changed_resources() returns trigger language plpgsql as $$
begin
  if discovery.is_followed() then
    perform discovery.note_documents((select array_agg(key) from (select key from written union select key from before) as both_of_them));
  end if;
  return null;
end $$;
create trigger note_documents_added after insert on discovery.resource referencing new table as written
  for each statement execute function discovery.note_added_or_deleted_resources();
create trigger note_documents_deleted after delete on discovery.resource referencing old table as written
  for each statement execute function discovery.note_added_or_deleted_resources();
create trigger note_documents_updated after update on discovery.resource referencing old table as before new table as written
  for each statement execute function discovery.note_changed_resources();

-- The words of an offer stand in the resources of its catalog that it is on.
create function discovery.note_documents_of_offers() returns trigger language plpgsql as $$
begin
  if discovery.is_followed() then
    perform discovery.note_documents((
      select array_agg(key) from (
        select key >> 26 << 26 as key from written where resource_ids is null
        union
        select resource.key from written cross join unnest(resource_ids) as named (id)
        join discovery.resource on resource.id = named.id and resource.catalog_key = written.key >> 26
      ) as touched));
  end if;
  return null;
end $$;
create function discovery.note_documents_of_changed_offers() returns trigger language plpgsql as $$
begin
  if discovery.is_followed() then
    perform discovery.note_documents((
      select array_agg(key) from (
        select offer.key >> 26 << 26 as key from (select * from written union all select * from before) as offer where resource_ids is null
        union
        select resource.key from (select * from written union all select * from before) as offer cross join unnest(resource_ids) as named (id)
        join discovery.resource on resource.id = named.id and resource.catalog_key = offer.key >> 26
      ) as touched));
  end if;
  return null;
end $$;
create trigger note_documents_added after insert on discovery.offer referencing new table as written
  for each statement execute function discovery.note_documents_of_offers();
create trigger note_documents_deleted after delete on discovery.offer referencing old table as written
  for each statement execute function discovery.note_documents_of_offers();
create trigger note_documents_updated after update on discovery.offer referencing old table as before new table as written
  for each statement execute function discovery.note_documents_of_changed_offers();

-- So do the words, the networks and the geometries of a catalog and its provider.
create function discovery.note_documents_of_heads() returns trigger language plpgsql as $$
begin
  if discovery.is_followed() then perform discovery.note_documents((select array_agg(key << 26) from written)); end if;
  return null;
end $$;
create function discovery.note_documents_of_changed_heads() returns trigger language plpgsql as $$
begin
  if discovery.is_followed() then
    perform discovery.note_documents((
      select array_agg(written.key << 26) from written left join before using (key)
      where (written.head_digest, written.networks, written.words) is distinct from (before.head_digest, before.networks, before.words)));
  end if;
  return null;
end $$;
create trigger note_documents_added after insert on discovery.catalog referencing new table as written
  for each statement execute function discovery.note_documents_of_heads();
create trigger note_documents_deleted after delete on discovery.catalog referencing old table as written
  for each statement execute function discovery.note_documents_of_heads();
create trigger note_documents_updated after update on discovery.catalog referencing old table as before new table as written
  for each statement execute function discovery.note_documents_of_changed_heads();

-- Whoever empties a table by hand has the index built anew.
create function discovery.forget_followers() returns trigger language plpgsql as $$
begin
  delete from discovery.opensearch_index;
  return null;
end $$;
create trigger forget_followers after truncate on discovery.resource for each statement execute function discovery.forget_followers();
create trigger forget_followers after truncate on discovery.catalog for each statement execute function discovery.forget_followers();
create trigger forget_followers after truncate on discovery.offer for each statement execute function discovery.forget_followers();
create trigger forget_followers after truncate on discovery.document_change for each statement execute function discovery.forget_followers();
