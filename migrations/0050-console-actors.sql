-- Commands write to the audit log of the console, too: their address is the user of the system that ran them.
alter table console.audit add column actor text not null default 'console' check (actor in ('console', 'cli'));
