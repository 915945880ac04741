-- One process at a time does the housekeeping of a database (src/housekeeping.ts): the process that moves the due time. One row.
create table work.housekeeping (
  only_row boolean primary key default true check (only_row),
  due_at timestamptz not null default now()
);
insert into work.housekeeping default values;

-- When an operator's action was written: the audit log is cleaned up by age.
create index audit_at on console.audit (at);
