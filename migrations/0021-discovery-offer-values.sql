-- Filters that ask each offer for a value: an index leads to the offers that have it, however many others there are. What is written goes into the
-- index at once, lest searches have to look through a list of what does not stand in it yet.
create index offer_by_value on discovery.offer using gin (document jsonb_path_ops) with (fastupdate = off);
