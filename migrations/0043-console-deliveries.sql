-- An operator may skip a callback. Both queues are in use while a process of a new version starts, so a migration locks one of them: 0047 does the same for
-- pushes, 0048 and 0049 what takes a look at all rows. `not valid`: rows that are there have one of the states that were allowed before.
alter table work.callback drop constraint callback_state_check,
  add constraint callback_state_check check (state in ('open', 'delivered', 'refused', 'parked', 'skipped')) not valid;
