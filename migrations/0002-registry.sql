-- Schema registry: the participants of the registry role, their keys and their networks, and every past version of their records.
-- A participant is named by the two halves of its identity, `namespace/registry_name`.

create schema if not exists registry;

-- Participants: one row each, however many keys and networks they have.
create table registry.participant (
  namespace text not null,      -- a domain
  registry_name text not null,
  subscriber_id text not null,  -- details.subscriber_id of its records: the bare domain for the default registry_name
  url text,                     -- its base address: callbacks and pushes go there
  type text,                    -- BAP, BPP, ...
  domain text,                  -- domain of commerce
  countries text[],             -- where it does business; null: unspecified
  catalog_index_urls text[] not null default '{}', -- meta.catalog_index_urls: where crawlers find its catalogs
  primary key (namespace, registry_name)
);

-- One record of the DeDi API is one signing key.
create table registry.signing_key (
  namespace text not null,
  registry_name text not null,
  record_id text not null,      -- name of the key
  public_key text not null,     -- Ed25519, as it was registered
  state text not null check (state in ('draft', 'live', 'suspended', 'revoked', 'expired')), -- only live keys are accepted
  valid_from timestamptz,       -- null: unlimited
  valid_until timestamptz,      -- null: unlimited
  ttl_seconds integer not null check (ttl_seconds >= 0), -- how long readers may cache the record
  created_at timestamptz not null default now(),
  primary key (namespace, registry_name, record_id),
  foreign key (namespace, registry_name) references registry.participant on delete cascade
);

-- The networks that a participant belongs to.
create table registry.membership (
  namespace text not null,
  registry_name text not null,
  network_id text not null,     -- `namespace/registry_name` of the network
  primary key (namespace, registry_name, network_id),
  foreign key (namespace, registry_name) references registry.participant on delete cascade
);
create index membership_of_network on registry.membership (network_id);

-- The current records.
create view registry.current_record as
  select k.namespace, k.registry_name, k.record_id, p.subscriber_id, p.url, p.type, p.domain, p.countries, k.public_key, k.state,
         k.valid_from, k.valid_until, k.ttl_seconds, p.catalog_index_urls,
         array(select m.network_id from registry.membership m
                where m.namespace = k.namespace and m.registry_name = k.registry_name
                order by m.network_id) as network_memberships,
         k.created_at
    from registry.signing_key k join registry.participant p using (namespace, registry_name);

-- Earlier versions of the records (DeDi: /versions and as_on). A record is a signing key with its participant and the participant's networks, so a
-- change in any of the three tables makes a new version of every record that changes. Columns without a comment are as in those tables.
create table registry.record_version (
  namespace text not null,
  registry_name text not null,
  record_id text not null,
  subscriber_id text not null,
  url text,
  type text,
  domain text,
  countries text[],
  public_key text not null,
  state text not null,
  valid_from timestamptz,
  valid_until timestamptz,
  ttl_seconds integer not null,
  catalog_index_urls text[] not null,
  network_memberships text[] not null, -- network ids, sorted
  created_at timestamptz not null,     -- of the key
  version integer not null,            -- counts from 1 without gaps
  recorded_at timestamptz not null,    -- in whole milliseconds, as in answers: as_on with that time finds this version
  primary key (namespace, registry_name, record_id, version),
  foreign key (namespace, registry_name) references registry.participant on delete cascade
);
create index record_version_of_network on registry.record_version using gin (network_memberships);
create index record_version_by_time on registry.record_version (recorded_at);

create function registry.keep_versions() returns trigger language plpgsql as $$
declare
  changed record;
begin
  if tg_op = 'DELETE' then changed := old; else changed := new; end if;
  -- One writer at a time, so that versions have one order, and each includes the changes of earlier transactions.
  perform from registry.participant p
    where p.namespace = changed.namespace and p.registry_name = changed.registry_name for no key update;
  insert into registry.record_version
    (namespace, registry_name, record_id, subscriber_id, url, type, domain, countries, public_key, state, valid_from, valid_until,
     ttl_seconds, catalog_index_urls, network_memberships, created_at, version, recorded_at)
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

-- At commit, so that several changes in one transaction make one version.
create constraint trigger keep_versions after insert or update on registry.participant
  deferrable initially deferred for each row execute function registry.keep_versions();
create constraint trigger keep_versions after insert or update on registry.signing_key
  deferrable initially deferred for each row execute function registry.keep_versions();
create constraint trigger keep_versions after insert or delete on registry.membership
  deferrable initially deferred for each row execute function registry.keep_versions();
