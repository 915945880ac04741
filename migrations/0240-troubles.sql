-- What the operator is told about failures that last (src/rules/troubles.ts).

-- Since when a feed is not in step with its catalog service: from its first start, a failure or the loss of its subscription until the next pull completes. Null
-- while it is in step. last_status is the HTTP status of the last failed step, until a step of that kind succeeds.
alter table discovery.feed add column out_of_step_since timestamptz default now(), add column last_status integer;
update discovery.feed set out_of_step_since = null where completed_at is not null and failures = 0;

-- Signing keys of running roles that the registry does not have. Each process writes its own at every look at the registry, and deletes the row once the key is there; a
-- row that nobody has written for a while is that of a process that has ended.
create table work.unregistered_key (
  role text not null,
  subscriber_id text not null,
  record_id text not null,
  public_key text not null,
  problem text not null,
  since timestamptz not null,
  seen_at timestamptz not null,
  primary key (role, subscriber_id, record_id, public_key)
);
