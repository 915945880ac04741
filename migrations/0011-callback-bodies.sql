-- A callback is sent a moment after it is stored, and its body is emptied then: compressing it takes longer than all else that is stored before
-- the acknowledgement.
alter table work.callback alter column body set storage external;
