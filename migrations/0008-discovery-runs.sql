-- The lists of the discovery index: where a fact, a number or a word stands, all in one table. A list is cut into runs, each one row that
-- holds up to some hundred keys in a few bytes each (src/storage/key-list.ts, number-list.ts).

-- The words of each resource, and of what is said of a catalog and its provider: five bytes for each, the word's number and what it counts.
-- So the rank of a few resources is told without reading the lists of their words.
alter table discovery.resource add column words bytea;
alter table discovery.catalog add column words bytea;
create temporary table document_words on commit drop as
select key, string_agg(int4send(word_id) || substring(int2send(weight) from 2), '' order by word_id) as words
from discovery.posting group by key;
update discovery.resource set words = document_words.words from document_words where document_words.key = resource.key;
update discovery.catalog set words = document_words.words from document_words where document_words.key = catalog.key << 26;
update discovery.resource set words = '' where words is null;
update discovery.catalog set words = '' where words is null;
alter table discovery.resource alter column words set not null;
alter table discovery.catalog alter column words set not null, alter column words set default '';

-- A run is written once and never changed: what becomes of it is another one.
create table discovery.run (
  id bigint generated always as identity,
  -- The hash of a fact; -1 names every resource; -2n is where word n stands in resources and catalogs, -2n - 1 where it stands in offers;
  -- from -2^52 downwards are the numbers of a path.
  list bigint not null,
  -- The first and the last key; in a list of numbers, which is in the order of their values, the lowest and the highest value.
  first double precision not null,
  last double precision not null,
  count smallint not null default 1,
  -- How much a word counts at the first key, in hundredths.
  weight smallint not null default 0,
  -- All of it; null where the other columns tell, which is a run of one key.
  bytes bytea
);
-- What there is becomes runs of one key, which the service puts together where they are searched.
insert into discovery.run (list, first, last) select -1, key, key from discovery.resource order by key;
insert into discovery.run (list, first, last) select hash, key, key from discovery.fact order by hash, key;
insert into discovery.run (list, first, last, bytes)
select -(1::bigint << 52) - (path >> 1), value, value, int2send(1::smallint) || float8send(value) || float8send(key)
from discovery.number order by path, value, key;
insert into discovery.run (list, first, last, weight)
select -2 * word_id::bigint, key, key, weight from discovery.posting order by word_id, key;
insert into discovery.run (list, first, last, weight)
select -2 * word_id::bigint - 1, key, key, weight from discovery.offer_posting order by word_id, key;
alter table discovery.run add primary key (list, first, last, id) include (count, weight);
drop table discovery.fact;
drop table discovery.number;
drop table discovery.posting;
drop table discovery.offer_posting;
alter table discovery.word drop column best_weight;
