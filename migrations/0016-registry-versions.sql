-- Past versions of the registry's records (DeDi: /versions and as_on). A record is one signing key together with its participant and that
-- participant's networks, so a change in any of the three tables makes a new version of every record that reads differently afterwards.

create view registry.current_record as
  select k.namespace, k.registry_name, k.record_id, p.subscriber_id, p.url, p.type, p.domain, k.public_key, k.state, k.valid_from,
         k.valid_until, k.ttl_seconds, p.catalog_index_urls,
         array(select m.network_id from registry.membership m
                where m.namespace = k.namespace and m.registry_name = k.registry_name
                order by m.network_id) as network_memberships,
         k.created_at
    from registry.signing_key k join registry.participant p using (namespace, registry_name);

create table registry.record_version (
  namespace text not null,
  registry_name text not null,
  record_id text not null,
  subscriber_id text not null,
  url text,
  type text,
  domain text,
  public_key text not null,
  state text not null,
  valid_from timestamptz,
  valid_until timestamptz,
  ttl_seconds integer not null,
  catalog_index_urls text[] not null,
  network_memberships text[] not null,
  created_at timestamptz not null,
  -- Counts from 1 without gaps.
  version integer not null,
  -- In whole milliseconds, because that is what answers show: as_on with the time that a version shows finds that version.
  recorded_at timestamptz not null,
  primary key (namespace, registry_name, record_id, version),
  foreign key (namespace, registry_name) references registry.participant on delete cascade
);
create index record_version_of_network on registry.record_version using gin (network_memberships);

-- What a record was before this migration is not known: its history begins with the last change.
insert into registry.record_version
  select r.*, 1, date_trunc('milliseconds', greatest(k.updated_at, p.updated_at))
    from registry.current_record r
    join registry.signing_key k using (namespace, registry_name, record_id)
    join registry.participant p using (namespace, registry_name);

create function registry.keep_versions() returns trigger language plpgsql as $$
declare
  changed record;
begin
  if tg_op = 'DELETE' then changed := old; else changed := new; end if;
  -- One writer at a time, so that versions have one order and none lacks what another transaction changed meanwhile.
  perform from registry.participant p
    where p.namespace = changed.namespace and p.registry_name = changed.registry_name for no key update;
  insert into registry.record_version
    select r.*, coalesce(last.version, 0) + 1,
           greatest(date_trunc('milliseconds', clock_timestamp()), last.recorded_at + interval '1 millisecond')
      from registry.current_record r
      left join lateral (
        select * from registry.record_version v
         where v.namespace = r.namespace and v.registry_name = r.registry_name and v.record_id = r.record_id
         order by v.version desc limit 1
      ) last on true
     where r.namespace = changed.namespace and r.registry_name = changed.registry_name
       and (r.subscriber_id, r.url, r.type, r.domain, r.public_key, r.state, r.valid_from, r.valid_until, r.ttl_seconds,
            r.catalog_index_urls, r.network_memberships)
           is distinct from
           (last.subscriber_id, last.url, last.type, last.domain, last.public_key, last.state, last.valid_from, last.valid_until,
            last.ttl_seconds, last.catalog_index_urls, last.network_memberships);
  return null;
end $$;

-- At commit: several changes of one transaction are one version.
create constraint trigger keep_versions after insert or update on registry.participant
  deferrable initially deferred for each row execute function registry.keep_versions();
create constraint trigger keep_versions after insert or update on registry.signing_key
  deferrable initially deferred for each row execute function registry.keep_versions();
create constraint trigger keep_versions after insert or delete on registry.membership
  deferrable initially deferred for each row execute function registry.keep_versions();
