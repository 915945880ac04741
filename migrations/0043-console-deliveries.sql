-- What an operator asks of deliveries: which are parked, of all receivers or of one, also where there are very many others. And an operator may skip one.
alter table work.callback drop constraint callback_state_check,
  add constraint callback_state_check check (state in ('open', 'delivered', 'refused', 'parked', 'skipped'));
alter table catalog.push drop constraint push_state_check,
  add constraint push_state_check check (state in ('pending', 'acknowledged', 'withdrawn', 'parked', 'no endpoint', 'skipped'));

create index callback_parked on work.callback (id) where state in ('refused', 'parked');
create index callback_parked_by_receiver on work.callback (receiver, id) where state in ('refused', 'parked');
create index push_parked on catalog.push (subscriber, catalog_key) where state in ('parked', 'no endpoint');
