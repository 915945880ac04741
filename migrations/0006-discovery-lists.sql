-- The index of the discovery service, made faster to write and to read.

-- Nothing stands in these lists twice: whoever writes makes sure of it, and checking it again would cost as much as the rest.
alter table discovery.fact drop constraint fact_pkey;
create index fact_by_hash on discovery.fact (hash, key);
alter table discovery.number drop constraint number_pkey;
create index number_by_value on discovery.number (path, value, key);
alter table discovery.posting drop constraint posting_pkey;
create index posting_by_word on discovery.posting (word_id, key) include (weight);
alter table discovery.offer_posting drop constraint offer_posting_pkey;
create index offer_posting_by_word on discovery.offer_posting (word_id, key) include (weight);

-- The most that a word ever counted anywhere, in hundredths: what has not been looked at cannot rank higher.
alter table discovery.word add column best_weight smallint not null default 0;
update discovery.word set best_weight = best.weight
from (
  select word_id, max(weight) as weight
  from (select word_id, weight from discovery.posting union all select word_id, weight from discovery.offer_posting) as every
  group by word_id
) as best
where best.word_id = word.id;

-- The paths at which some resource has, or had, an object: there, "any child" is more than the elements of an array. A member is written
-- as U+0001 and its name, an element as U+0002.
create table discovery.object_path (
  -- MD5 of the path.
  digest uuid primary key
);
with recursive node (path, value) as (
  select '', document from discovery.resource
  union all
  select child.path, child.value
  from node, lateral (
    select node.path || E'\x01' || name as path, member as value
    from jsonb_each(case jsonb_typeof(node.value) when 'object' then node.value end) as members (name, member)
    union all
    select node.path || E'\x02', element
    from jsonb_array_elements(case jsonb_typeof(node.value) when 'array' then node.value end) as elements (element)
  ) as child
  where jsonb_typeof(child.value) in ('object', 'array')
)
insert into discovery.object_path
select distinct md5(path)::uuid from node where path <> '' and jsonb_typeof(value) = 'object';

-- Boxes are a little thick in the dimension of their path: the index puts together what takes little room, and what has no thickness
-- takes none, however far apart it is.
update discovery.geometry
set box = cube(
  array[cube_ll_coord(box, 1), cube_ll_coord(box, 2), cube_ll_coord(box, 3), cube_ll_coord(box, 4)],
  array[cube_ur_coord(box, 1), cube_ur_coord(box, 2), cube_ur_coord(box, 3), cube_ll_coord(box, 4) + 1]
);

-- Never used: discovery.listing counts the pulls that a catalog was missing in, for each feed.
alter table discovery.catalog drop column missing_pulls;
