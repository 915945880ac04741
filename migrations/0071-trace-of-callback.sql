-- The trace that a callback belongs to (see 0070).
alter table work.callback add column traceparent text;
