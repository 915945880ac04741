-- What was pushed to subscribers of the past is forgotten some time after it was withdrawn from them.
create index push_withdrawn on catalog.push (sent_timestamp) where state = 'withdrawn';
