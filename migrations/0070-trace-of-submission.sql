-- The trace that a publish belongs to (W3C traceparent), so that its processing, in whichever process, goes on with it. Null: it is not traced. A column without a
-- default is added without looking at the rows. One table per migration, because each is in use while a process of a new version starts (0071, 0072).
alter table catalog.submission add column traceparent text;
