-- Which pushes are parked.
alter table catalog.push validate constraint push_state_check;
create index push_parked on catalog.push (subscriber, catalog_key) where state in ('parked', 'no endpoint');
