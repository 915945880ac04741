-- An operator may skip a push.
alter table catalog.push drop constraint push_state_check,
  add constraint push_state_check check (state in ('pending', 'acknowledged', 'withdrawn', 'parked', 'no endpoint', 'skipped')) not valid;
