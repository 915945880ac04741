-- Receivers that take callbacks only under a three-line signature (src/delivery/callback-forms.ts), so that every process begins with it.
-- All others are sent the four-line one first.
create table work.plain_receiver (
  -- An origin, as in work.callback.
  receiver text primary key,
  -- From then on the four-line signature is tried first again.
  until timestamptz not null
);

comment on column work.sent_request.signatures is
  'By what a callback may name the request: of each attempt to send it the text of the signature, and the whole Authorization header.';
