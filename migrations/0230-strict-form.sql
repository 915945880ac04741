-- Which forms a receiver takes other than those that everybody is sent first (src/delivery/receiver-forms.ts), so that every process begins with them.
drop table work.plain_receiver;
create table work.receiver_form (
  -- An identity.
  receiver text not null,
  -- plain: callbacks under a three-line signature. strict: messages in strict form.
  form text not null check (form in ('plain', 'strict')),
  -- From then on the usual form is tried first again.
  until timestamptz not null,
  primary key (receiver, form)
);

alter table work.callback
  -- The identity that it goes to.
  add column recipient text not null default '',
  -- What was sent last; null: nothing yet.
  add column form text,
  -- Where its receiver accepts it in parts only: how far these have come (src/rules/strict-parts.ts).
  add column parts jsonb;
