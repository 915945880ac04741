-- details.countries of a registry record: where the participant does business.

alter table registry.participant add column countries text[];
alter table registry.record_version add column countries text[];

create or replace view registry.current_record as
  select k.namespace, k.registry_name, k.record_id, p.subscriber_id, p.url, p.type, p.domain, k.public_key, k.state, k.valid_from,
         k.valid_until, k.ttl_seconds, p.catalog_index_urls,
         array(select m.network_id from registry.membership m
                where m.namespace = k.namespace and m.registry_name = k.registry_name
                order by m.network_id) as network_memberships,
         k.created_at, p.countries
    from registry.signing_key k join registry.participant p using (namespace, registry_name);

create or replace function registry.keep_versions() returns trigger language plpgsql as $$
declare
  changed record;
begin
  if tg_op = 'DELETE' then changed := old; else changed := new; end if;
  -- One writer at a time, so that versions have one order and none lacks what another transaction changed meanwhile.
  perform from registry.participant p
    where p.namespace = changed.namespace and p.registry_name = changed.registry_name for no key update;
  insert into registry.record_version
    (namespace, registry_name, record_id, subscriber_id, url, type, domain, public_key, state, valid_from, valid_until, ttl_seconds,
     catalog_index_urls, network_memberships, created_at, countries, version, recorded_at)
    select r.*, coalesce(last.version, 0) + 1,
           greatest(date_trunc('milliseconds', clock_timestamp()), last.recorded_at + interval '1 millisecond')
      from registry.current_record r
      left join lateral (
        select * from registry.record_version v
         where v.namespace = r.namespace and v.registry_name = r.registry_name and v.record_id = r.record_id
         order by v.version desc limit 1
      ) last on true
     where r.namespace = changed.namespace and r.registry_name = changed.registry_name
       and (r.subscriber_id, r.url, r.type, r.domain, r.countries, r.public_key, r.state, r.valid_from, r.valid_until, r.ttl_seconds,
            r.catalog_index_urls, r.network_memberships)
           is distinct from
           (last.subscriber_id, last.url, last.type, last.domain, last.countries, last.public_key, last.state, last.valid_from,
            last.valid_until, last.ttl_seconds, last.catalog_index_urls, last.network_memberships);
  return null;
end $$;
