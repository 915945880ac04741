-- Which callbacks are parked, of all receivers or of one, also where there are very many others.
alter table work.callback validate constraint callback_state_check;
create index callback_parked on work.callback (id) where state in ('refused', 'parked');
create index callback_parked_by_receiver on work.callback (receiver, id) where state in ('refused', 'parked');
