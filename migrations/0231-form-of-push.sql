-- What was pushed last, full or strict; null: nothing yet.
alter table catalog.push add column form text;
