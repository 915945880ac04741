-- Which requests without body a signature has served: it names none of them, so that it is looked for by itself (message_id).
create index request_without_body on work.request (message_id) where method <> 'POST';
