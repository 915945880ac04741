-- The registry role: who takes part, with which keys, in which networks.
-- A participant is named by the two halves of its identity, `namespace/registry_name`.

create schema if not exists registry;

create table registry.participant (
  namespace text not null,
  registry_name text not null,
  -- What records show as details.subscriber_id: the bare domain where registry_name is the default one.
  subscriber_id text not null,
  url text,
  type text,
  domain text,
  catalog_index_urls text[] not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (namespace, registry_name)
);

-- One record of the DeDi API is one signing key.
create table registry.signing_key (
  namespace text not null,
  registry_name text not null,
  record_id text not null,
  public_key text not null,
  state text not null check (state in ('draft', 'live', 'suspended', 'revoked', 'expired')),
  valid_from timestamptz,
  valid_until timestamptz,
  ttl_seconds integer not null check (ttl_seconds >= 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (namespace, registry_name, record_id),
  foreign key (namespace, registry_name) references registry.participant on delete cascade
);

create table registry.membership (
  namespace text not null,
  registry_name text not null,
  network_id text not null,
  created_at timestamptz not null default now(),
  primary key (namespace, registry_name, network_id),
  foreign key (namespace, registry_name) references registry.participant on delete cascade
);
create index membership_of_network on registry.membership (network_id);
